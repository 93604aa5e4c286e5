// swift-tools-version: 6.2
import PackageDescription

/// Every target compiles in Swift 6 mode with warnings as errors.
let tests: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]
/// What the tests try is also optimized in a debug build, where they otherwise spend most of their time in
/// code for bytes: signatures, base64, JSON.
let common: [SwiftSetting] = tests + [.unsafeFlags(["-O"], .when(configuration: .debug))]
/// The programs get their memory from jemalloc: what one thread allocates another one frees here, in great
/// numbers, and the C library's own allocator is slow at that. A sanitizer of addresses brings its own.
let allocator: [LinkerSetting] =
    Context.environment["DEED_SANITIZE"] == "address" ? [] : [.linkedLibrary("jemalloc")]
/// What a release says of itself: `scripts/package` puts it into the environment.
let stamp: [CSetting] = ["DEED_VERSION", "DEED_COMMIT", "DEED_DATE"].compactMap { name in
    Context.environment[name].map { .define(name, to: "\"\($0)\"") }
}
/// Targets that own no C handle also promise not to touch memory by hand.
let safe: [SwiftSetting] = common + [.strictMemorySafety()]

let package = Package(
    name: "deed",
    targets: [
        .systemLibrary(
            name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),

        .target(name: "COpenAPI", exclude: ["openapi.json", "parts"]),
        .target(name: "OpenAPI", dependencies: ["COpenAPI"], swiftSettings: common),
        // Named so that the linker lets the HTTP library find our function before the library's own.
        .target(name: "CReceive", linkerSettings: [.linkedLibrary("gnutls")]),

        .target(name: "CBuild", cSettings: stamp),
        .systemLibrary(name: "CProcess"),
        .target(name: "Machine", dependencies: ["CProcess"], swiftSettings: common),

        .target(name: "Core", swiftSettings: safe),
        .target(name: "Auditing", dependencies: ["Core"], swiftSettings: safe),
        .target(name: "Following", dependencies: ["Core"], swiftSettings: safe),
        .target(name: "Wording", dependencies: ["Core"], swiftSettings: safe),
        .target(name: "JSON", swiftSettings: safe),
        .target(name: "Threading", swiftSettings: common),
        .target(
            name: "Commands", dependencies: ["CBuild", "Core", "JSON", "Threading"],
            swiftSettings: common),
        .target(name: "CatalogFile", dependencies: ["Core", "JSON"], swiftSettings: safe),
        .target(name: "Telemetry", dependencies: ["JSON"], swiftSettings: safe),
        .target(
            name: "Postgres", dependencies: ["CPostgres", "Threading"], swiftSettings: common),
        .target(name: "Crypto", dependencies: ["COpenSSL", "Threading"], swiftSettings: common),
        .target(
            name: "Evidence",
            dependencies: ["Auditing", "Core", "Crypto", "JSON", "Telemetry"],
            swiftSettings: safe),
        .target(
            name: "SQL", dependencies: ["Postgres"], path: "sql",
            resources: [
                .embedInCode("migrations"), .embedInCode("queries"), .embedInCode("tables"),
                .embedInCode("schema.txt"),
            ],
            swiftSettings: common),
        .target(
            name: "Ledger",
            dependencies: [
                "Auditing", "CatalogFile", "Core", "Crypto", "Following", "JSON", "Postgres", "SQL",
                "Telemetry", "Threading", "Wording",
            ],
            swiftSettings: safe),
        .target(
            name: "HTTPServer",
            dependencies: ["CMicroHTTPD", "CReceive", "Telemetry", "Threading"],
            swiftSettings: common),
        .target(
            name: "PrivatePostgres",
            dependencies: ["JSON", "Machine", "Postgres", "Telemetry", "Threading"],
            swiftSettings: common),
        .target(name: "Answers", dependencies: ["Core", "Following"], swiftSettings: safe),
        .target(
            name: "Feed", dependencies: ["Core", "Following", "Threading"], swiftSettings: safe),
        .target(
            name: "Service", dependencies: ["Auditing", "Core", "Threading", "Wording"],
            swiftSettings: safe),
        .target(
            name: "API",
            dependencies: [
                "Answers", "CatalogFile", "Core", "Feed", "HTTPServer", "JSON", "OpenAPI",
                "Service", "Telemetry", "Threading", "Wording",
            ],
            swiftSettings: safe),
        .target(name: "QRCode", dependencies: ["CQREncode"], swiftSettings: common),
        .target(
            name: "Console",
            dependencies: ["API", "Core", "HTTPServer", "JSON", "QRCode", "Service"],
            resources: [.embedInCode("style.css"), .embedInCode("script.js")],
            swiftSettings: safe),
        .target(
            name: "Outbound", dependencies: ["CCurl", "Threading"], swiftSettings: common),
        .target(
            name: "StoreAccess",
            dependencies: ["Core", "Crypto", "JSON", "Outbound", "Threading"],
            swiftSettings: safe),
        .target(
            name: "AppStore",
            dependencies: [
                "Core", "Crypto", "Evidence", "JSON", "Outbound", "StoreAccess", "Wording",
            ],
            swiftSettings: safe),
        .target(
            name: "PlayStore",
            dependencies: [
                "Core", "Crypto", "Evidence", "JSON", "Outbound", "StoreAccess", "Threading",
                "Wording",
            ],
            swiftSettings: safe),
        .target(
            name: "Delivery",
            dependencies: [
                "Core", "Crypto", "Feed", "JSON", "Outbound", "Telemetry", "Threading", "Wording",
            ],
            resources: [.embedInCode("examples.json")],
            swiftSettings: safe),
        .target(
            name: "Jobs",
            dependencies: [
                "Core", "JSON", "Ledger", "Postgres", "PrivatePostgres", "Service", "Telemetry",
                "Threading", "Wording",
            ],
            swiftSettings: safe),
        .target(
            name: "Assembly",
            dependencies: [
                "API", "Answers", "AppStore", "Console", "Core", "Crypto", "Delivery", "Evidence",
                "Feed", "Following", "HTTPServer", "JSON", "Jobs", "Ledger", "Outbound",
                "PlayStore",
                "Postgres", "PrivatePostgres", "Service", "StoreAccess", "Telemetry", "Threading",
                "Wording",
            ],
            swiftSettings: common),
        .executableTarget(
            name: "deed",
            dependencies: [
                "API", "Assembly", "Auditing", "CatalogFile", "Commands", "Core", "Crypto",
                "Delivery", "Evidence", "Feed", "HTTPServer", "JSON", "Ledger", "Outbound",
                "Postgres",
                "Machine", "PrivatePostgres", "Service", "StoreAccess", "Telemetry", "Threading",
                "Wording",
            ],
            swiftSettings: common, linkerSettings: allocator),
        // What plays a store, for tests and for people who build against Deed; `deed` links none of it.
        .target(
            name: "Minting", dependencies: ["COpenSSL", "Core", "JSON"], swiftSettings: common),
        .target(
            name: "Practice",
            dependencies: [
                "Core", "Crypto", "Evidence", "HTTPServer", "JSON", "Minting", "Outbound",
                "Telemetry", "Threading",
            ],
            swiftSettings: common),
        .executableTarget(
            name: "deed-practice",
            dependencies: ["Commands", "Core", "JSON", "Outbound", "Practice", "Threading"],
            path: "Sources/PracticeTool", swiftSettings: common),
        .executableTarget(
            name: "deed-bench",
            dependencies: [
                "CMicroHTTPD", "HTTPServer", "Telemetry", "Core", "Crypto", "Evidence", "JSON",
                "Ledger", "Minting", "Postgres",
            ],
            path: "Sources/Bench", swiftSettings: common, linkerSettings: allocator),

        .target(
            name: "TestSupport",
            dependencies: [
                "API", "Answers", "AppStore", "Assembly", "Core", "Crypto", "Evidence", "Feed",
                "HTTPServer", "Histories", "JSON", "Ledger", "Minting", "OpenAPI", "Postgres",
                "Service", "StoreAccess", "Telemetry", "Threading",
            ],
            path: "Tests/TestSupport", exclude: ["Histories"], swiftSettings: common),
        .testTarget(name: "ArchitectureTests", swiftSettings: tests),
        .target(
            name: "Histories", dependencies: ["Core"], path: "Tests/TestSupport/Histories",
            swiftSettings: common),
        .testTarget(
            name: "EvidenceTests",
            dependencies: [
                "Auditing", "Core", "Crypto", "Evidence", "Histories", "JSON", "Minting",
                "Telemetry", "Threading",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "CoreTests", dependencies: ["Core", "Histories"], swiftSettings: tests),
        .testTarget(
            name: "AuditingTests", dependencies: ["Auditing", "Core", "Histories"],
            swiftSettings: tests),
        .testTarget(
            name: "CatalogFileTests", dependencies: ["CatalogFile", "Core", "Histories", "JSON"],
            swiftSettings: tests),
        .testTarget(
            name: "WordingTests", dependencies: ["AppStore", "Core", "PlayStore", "Wording"],
            swiftSettings: tests),
        .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: tests),
        .testTarget(
            name: "CryptoTests", dependencies: ["Crypto", "Histories", "Minting"],
            swiftSettings: tests),
        .testTarget(
            name: "PostgresTests", dependencies: ["Postgres", "TestSupport", "Threading"],
            swiftSettings: tests),
        .testTarget(
            name: "LedgerTests",
            dependencies: [
                "API", "Assembly", "Auditing", "Core", "Feed", "Following", "Histories", "JSON",
                "Ledger", "Postgres", "SQL", "Service", "Telemetry", "TestSupport", "Threading",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "APITests",
            dependencies: [
                "API", "Answers", "Auditing", "CatalogFile", "Core", "Evidence", "Feed",
                "HTTPServer", "Histories", "JSON", "Ledger", "Minting",
                "OpenAPI", "Outbound", "Postgres", "SQL", "Service", "Telemetry", "TestSupport",
                "Threading",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "ConsoleTests",
            dependencies: [
                "API", "Console", "Core", "HTTPServer", "Histories", "JSON", "Minting",
                "Outbound",
                "Service", "Telemetry", "TestSupport",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "AnswersTests",
            dependencies: [
                "API", "Answers", "Core", "Histories", "JSON", "Ledger", "Postgres", "Service",
                "TestSupport", "Threading",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "Core", "Evidence", "JSON", "Minting", "Service", "TestSupport", "Threading",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "AssemblyTests",
            dependencies: [
                "Assembly", "Core", "Crypto", "HTTPServer", "JSON", "Ledger", "Telemetry",
                "TestSupport",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "QRCodeTests", dependencies: ["QRCode", "TestSupport"], swiftSettings: tests),
        .testTarget(name: "ThreadingTests", dependencies: ["Threading"], swiftSettings: tests),
        .testTarget(
            name: "TelemetryTests", dependencies: ["JSON", "Telemetry"], swiftSettings: tests),
        .testTarget(
            name: "MintingTests", dependencies: ["Minting", "TestSupport"], swiftSettings: tests),
        .testTarget(
            name: "JobsTests",
            dependencies: [
                "Core", "Following", "Histories", "Jobs", "Ledger", "Service", "Telemetry",
                "TestSupport", "Threading",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "PrivatePostgresTests",
            dependencies: ["PrivatePostgres", "Telemetry", "TestSupport"],
            swiftSettings: tests),
        .testTarget(
            name: "DeedTests",
            dependencies: [
                "deed", "deed-practice", "Commands", "Core", "Evidence", "Histories", "JSON",
                "Ledger", "Machine", "Minting", "Outbound", "Postgres", "SQL", "Service",
                "Telemetry", "TestSupport", "Threading",
            ],
            exclude: ["Fixtures", "webhook_receivers.py"], swiftSettings: tests),
        .testTarget(
            name: "PracticeTests",
            dependencies: [
                "deed-practice", "AppStore", "Core", "Crypto", "Evidence", "HTTPServer",
                "Histories", "JSON", "Minting", "Outbound", "Practice", "StoreAccess", "Telemetry",
                "TestSupport", "Threading",
            ],
            exclude: ["apple_library.py", "google_library.py"], swiftSettings: tests),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: [
                "HTTPServer", "Histories", "Outbound", "Telemetry", "TestSupport", "Threading",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "AppStoreTests",
            dependencies: [
                "AppStore", "Core", "Crypto", "Evidence", "HTTPServer", "Histories", "JSON",
                "Ledger",
                "Minting", "Outbound", "Practice", "Service", "StoreAccess", "Telemetry",
                "TestSupport", "Threading",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "PlayStoreTests",
            dependencies: [
                "API", "Core", "Evidence", "HTTPServer", "Histories", "JSON", "Ledger", "Minting",
                "Outbound", "PlayStore", "Practice", "Service", "StoreAccess", "Telemetry",
                "TestSupport",
                "Threading",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "DeliveryTests",
            dependencies: [
                "Core", "Crypto", "Delivery", "Feed", "HTTPServer", "JSON", "Outbound",
                "Telemetry", "TestSupport", "Threading",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "OutboundTests",
            dependencies: ["HTTPServer", "Outbound", "Telemetry", "TestSupport", "Threading"],
            swiftSettings: tests),
    ]
)

// Fuzzing needs the whole build to be instrumented; `scripts/fuzz` asks for it.
if Context.environment["DEED_FUZZ"] != nil {
    package.targets += [
        .systemLibrary(name: "CFuzzer"),
        .executableTarget(
            name: "deed-fuzz",
            dependencies: ["CFuzzer", "Core", "Crypto", "Evidence", "JSON", "Minting"],
            path: "Sources/Fuzz", swiftSettings: common),
    ]
}
