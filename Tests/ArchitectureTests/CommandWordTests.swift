import Testing

@Suite("Words of the command line")
struct CommandWordTests {
    /// Targets that only name remedies. `Wording` turns the remedies into commands.
    static let silent: Set<String> = [
        "Auditing", "Core", "Following", "Ledger", "Service", "StoreAccess",
    ]
    /// Texts that only look like commands, and the files that may contain them.
    static let exceptions: [(path: String, text: String)] = [
        // This text derives a key. With another text, sealed credentials could no longer be opened.
        ("Sources/StoreAccess/CredentialVault.swift", "deed store credentials")
    ]

    /// The first word of each command, from its specification.
    static let commands = Set(
        SourceTree.sources.filter { $0.target == "deed" }
            .flatMap { $0.text.matches(of: /path: \["([a-z-]+)"/) }.map(\.output.1))

    @Test(
        "A target below all readers names no command and no flag",
        arguments: SourceTree.sources.filter { silent.contains($0.target) })
    func silence(_ file: SourceTree.File) {
        var text = file.text
        for exception in Self.exceptions where exception.path == file.path {
            #expect(text.contains(exception.text), "no longer an exception")
            text = text.replacing(exception.text, with: "")
        }
        #expect(Self.named(in: text) == [], "\(file): name a case of Remedy instead")
    }

    @Test("A remedy names only commands that exist")
    func existing() throws {
        let paths = Set(
            SourceTree.sources.filter { $0.target == "deed" }
                .flatMap { $0.text.matches(of: /path: \[("[a-z-]+"(?:, "[a-z-]+")*)\]/) }
                .map { String($0.output.1.filter { !"\",".contains($0) }) })
        let words = try #require(
            SourceTree.sources.first { $0.path == "Sources/Wording/CommandWords.swift" })
        let named = words.text.matches(of: /\bdeed ([a-z-]+)(?: ([a-z-]+))?/)
        #expect(named.count > 40)
        for name in named {
            let (first, second) = (String(name.output.1), name.output.2)
            let isKnown =
                paths.contains(first) || second.map { paths.contains("\(first) \($0)") } == true
            #expect(isKnown, "there is no command \(name.output.0)")
        }
    }

    @Test("Commands and flags are found, even in a text that is put together")
    func found() {
        #expect(Self.commands.isSuperset(of: ["serve", "key", "accept-log"]))
        #expect(Self.named(in: #""no key; see: deed key list""#) == ["deed key"])
        #expect(Self.named(in: "\"run: deed \"\n    + \"accept-log\"") == ["deed accept-log"])
        #expect(Self.named(in: #""give a later end with --expires.""#) == ["--expires"])
        #expect(Self.named(in: #""a row of deed.keys""# + "\n    // as deed serve does") == [])
        #expect(Self.named(in: #"let deed = serve - -later"#) == [])
    }

    /// Returns the commands and flags in a source file, outside of comments.
    private static func named(in text: String) -> [String] {
        let lines = text.split(separator: "\n").filter {
            !$0.drop(while: \.isWhitespace).hasPrefix("//")
        }
        let joined = lines.joined(separator: "\n").replacing(/"\s*\+\s*"/, with: "")
        let calls = joined.matches(of: /\bdeed ([a-z-]+)/)
            .filter { commands.contains($0.output.1) }.map(\.output.0)
        return (calls + joined.matches(of: /--[a-z][a-z-]*/).map(\.output)).map(String.init)
    }
}
