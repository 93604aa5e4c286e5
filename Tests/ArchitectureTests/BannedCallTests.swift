import Testing

@Suite("Banned calls")
struct BannedCallTests {
    /// Banned words, the targets that may use them anyway, and the reasons.
    static let banned: [(word: String, allowed: Set<String>, why: String)] = [
        ("Date()", [], "now is an argument; the wall clock is read in Assembly/Live.swift"),
        ("try!", [], "errors are handled"),
        ("fatalError(", [], "bugs are preconditions, the world's faults are errors"),
        ("print(", ["deed", "Bench"], "logs go through Telemetry, answers through the CLI"),
        ("NSLog(", [], "logs go through Telemetry"),
        (" as! ", [], "a cast that can fail is handled"),
        (
            "FetchedAnswer(", ["AppStore", "Evidence"],
            "only who asked the store may vouch for its answer"
        ),
        (
            "PlayAnswer(", ["Evidence", "PlayStore"],
            "only who asked the store may vouch for its answer"
        ),
    ]

    /// Files that may use `@unchecked`. Each declaration states the reason.
    static let unchecked: Set<String> = [
        "Sources/Core/Shared.swift",
        "Sources/Threading/Monitor.swift",
        "Sources/Crypto/Certificate.swift",
        "Sources/Crypto/Digest.swift",
        "Sources/Crypto/PublicKey.swift",
        "Sources/Crypto/SigningKey.swift",
        "Sources/HTTPServer/Connection.swift",
        "Sources/Minting/MintedKey.swift",
    ]

    @Test("No file makes a banned call", arguments: SourceTree.sources)
    func calls(_ file: SourceTree.File) {
        let code = codeOnly(file.text)
        for (word, allowed, why) in Self.banned where !allowed.contains(file.target) {
            #expect(!code.contains(word), "\(file) uses \(word): \(why)")
        }
    }

    @Test("The wall clock is read in one place", arguments: SourceTree.sources)
    func clock(_ file: SourceTree.File) {
        let clocks = ["Sources/Assembly/Live/Live.swift", "Sources/PracticeTool/Live.swift"]
        if clocks.contains(file.path) {
            return
        }
        #expect(!codeOnly(file.text).contains("CLOCK_REALTIME"), "\(file) reads the clock")
    }

    @Test("@unchecked Sendable occurs only where the list says, with its reason")
    func uncheckedSendable() {
        let users = SourceTree.sources.filter { codeOnly($0.text).contains("@unchecked Sendable") }
        #expect(Set(users.map(\.path)) == Self.unchecked)
        for file in users {
            #expect(file.text.contains("`@unchecked Sendable`: "), "\(file) does not say why")
        }
    }

    @Test("SQL is never built from values", arguments: SourceTree.sources)
    func sqlText(_ file: SourceTree.File) {
        let code = codeOnly(file.text)
        #expect(!code.contains("PQexecParams"), "\(file) sends SQL past Statement")
        for word in ["Script(", " Statement("] where !["Postgres", "SQL"].contains(file.target) {
            #expect(!code.contains(word), "\(file) makes a \(word)…)")
        }
    }
}
