import Testing

@Suite("Dependencies between the targets")
struct ArrowTests {
    /// The modules of this project that each target may import. Dependencies point inward, and Core imports none.
    static let allowed: [String: Set<String>] = [
        "Core": [],
        "Auditing": ["Core"],
        "Following": ["Core"],
        "Wording": ["Core"],
        "JSON": [],
        "CatalogFile": ["Core", "JSON"],
        "Commands": ["CBuild", "Core", "JSON", "Threading"],
        "Threading": [],
        "Telemetry": ["JSON"],
        "Crypto": ["COpenSSL", "Threading"],
        "Evidence": ["Auditing", "Core", "Crypto", "JSON", "Telemetry"],
        "Postgres": ["CPostgres", "Threading"],
        "SQL": ["Postgres"],
        "Ledger": [
            "Auditing", "CatalogFile", "Core", "Crypto", "Following", "JSON", "Postgres", "SQL",
            "Telemetry", "Threading", "Wording",
        ],
        "Machine": ["CProcess"],
        "PrivatePostgres": ["JSON", "Machine", "Postgres", "Telemetry", "Threading"],
        "Answers": ["Core", "Following"],
        "Feed": ["Core", "Following", "Threading"],
        "Service": ["Auditing", "Core", "Threading", "Wording"],
        "HTTPServer": ["CMicroHTTPD", "CReceive", "Telemetry", "Threading"],
        "Outbound": ["CCurl", "Threading"],
        "StoreAccess": ["Core", "Crypto", "JSON", "Outbound", "Threading"],
        "AppStore": [
            "Core", "Crypto", "Evidence", "JSON", "Outbound", "StoreAccess", "Wording",
        ],
        "PlayStore": [
            "Core", "Crypto", "Evidence", "JSON", "Outbound", "StoreAccess", "Threading",
            "Wording",
        ],
        "Delivery": [
            "Core", "Crypto", "Feed", "JSON", "Outbound", "Telemetry", "Threading", "Wording",
        ],
        "OpenAPI": ["COpenAPI"],
        "API": [
            "Answers", "CatalogFile", "Core", "Feed", "HTTPServer", "JSON", "OpenAPI", "Service",
            "Telemetry", "Threading", "Wording",
        ],
        "QRCode": ["CQREncode"],
        "Console": ["API", "Core", "HTTPServer", "JSON", "QRCode", "Service"],
        "Jobs": [
            "Core", "JSON", "Ledger", "Postgres", "PrivatePostgres", "Service", "Telemetry",
            "Threading", "Wording",
        ],
        "Assembly": [
            "API", "Answers", "AppStore", "Console", "Core", "Crypto", "Delivery", "Evidence",
            "Feed", "Following",
            "HTTPServer", "JSON", "Jobs", "Ledger", "Outbound", "PlayStore", "Postgres",
            "PrivatePostgres", "Service", "StoreAccess", "Telemetry", "Threading", "Wording",
        ],
        "deed": [
            "API", "Assembly", "Auditing", "CatalogFile", "Commands", "Core", "Crypto", "Delivery",
            "Evidence",
            "Feed", "HTTPServer", "JSON", "Ledger", "Machine", "Outbound", "Postgres",
            "PrivatePostgres",
            "Service", "StoreAccess", "Telemetry", "Threading", "Wording",
        ],
        "Bench": [
            "CMicroHTTPD", "Core", "Crypto", "Evidence", "HTTPServer", "JSON", "Ledger", "Minting",
            "Postgres", "Telemetry",
        ],
        "Minting": ["COpenSSL", "Core", "JSON"],
        "Practice": [
            "Core", "Crypto", "Evidence", "HTTPServer", "JSON", "Minting", "Outbound", "Telemetry",
            "Threading",
        ],
        "PracticeTool": ["Commands", "Core", "JSON", "Outbound", "Practice", "Threading"],
        "Fuzz": ["CFuzzer", "Core", "Crypto", "Evidence", "JSON", "Minting"],
    ]
    /// The toolchain modules that a target may import. Core may import none.
    static let toolchain: Set<String> = [
        "Foundation", "Glibc", "Synchronization",
    ]

    @Test("Every target has its row in the table, and every row its target")
    func complete() {
        #expect(SourceTree.targets == Self.allowed.keys.sorted())
    }

    /// Targets whose tests are elsewhere, and where they are.
    static let testedElsewhere = [
        "Commands": "DeedTests", "Feed": "APITests", "Following": "LedgerTests",
        "Machine": "DeedTests",
        "OpenAPI": "APITests", "SQL": "LedgerTests", "StoreAccess": "AppStoreTests",
        "deed": "DeedTests",
        "PracticeTool": "PracticeTests",
    ]
    /// Targets that `scripts/bench` and `scripts/fuzz` run.
    static let measuring: Set<String> = ["Bench", "Fuzz"]

    @Test(
        "Every target has a folder of tests",
        arguments: SourceTree.targets.filter { !measuring.contains($0) })
    func tested(_ target: String) {
        let folder = Self.testedElsewhere[target] ?? target + "Tests"
        #expect(SourceTree.tests.contains { $0.path.hasPrefix("Tests/\(folder)/") })
    }

    @Test("A file imports only what its target may", arguments: SourceTree.sources)
    func imports(_ file: SourceTree.File) throws {
        let allowed = try #require(Self.allowed[file.target])
        let pure: Set<String> = ["Core", "JSON"]
        for module in importedModules(file) {
            let isAllowed =
                allowed.contains(module)
                || (Self.toolchain.contains(module) && !pure.contains(file.target))
            #expect(isAllowed, "\(file) imports \(module)")
        }
    }

    /// Targets that play a store. `deed` must never sign anything that they can sign.
    static let playing: Set<String> = ["Minting", "Practice", "PracticeTool"]

    @Test("A C library has one owner")
    func owners() {
        for library in [
            "CPostgres", "COpenSSL", "CCurl", "CQREncode", "COpenAPI", "CProcess", "CReceive",
        ] {
            let owners = Set(
                SourceTree.sources.filter { importedModules($0).contains(library) }.map(\.target)
            ).subtracting(Self.playing)
            #expect(owners.count == 1, "\(library) is imported by \(owners.sorted())")
        }
    }

    @Test("Code that imitates a store is never linked into deed")
    func noPlay() throws {
        var linked: Set<String> = ["deed"]
        var rest = linked
        while let target = rest.popFirst() {
            let imported = SourceTree.sources.filter { $0.target == target }
                .flatMap(importedModules)
            for module in imported where Self.allowed[module] != nil {
                if linked.insert(module).inserted { rest.insert(module) }
            }
        }
        #expect(linked.contains("Core"))
        #expect(linked.isDisjoint(with: Self.playing))
    }

    private func importedModules(_ file: SourceTree.File) -> [String] {
        codeOnly(file.text).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard let at = words.firstIndex(of: "import"), at <= 1, at + 1 < words.count
            else { return nil }
            return String(words[at + 1])
        }
    }
}
