import Testing

@Suite("Words of one store")
struct StoreWordTests {
    /// Targets that know stores only by their capabilities.
    static let neutral: Set<String> = [
        "Answers", "API", "Auditing", "Core", "Following", "Jobs", "Ledger", "SQL", "Service",
        "StoreAccess",
    ]
    /// Words that belong to a single store: its name where it decides something, its well-known
    /// terms, the numbers and words of its API, and the members of its key and evidence. Words that
    /// stay in the log or in a promise to clients are not listed.
    static let own: [(word: String, why: String)] = [
        (".apple", "what a store can do stands in its profile"),
        (".google", "what a store can do stands in its profile"),
        ("App Store", "sentences about one store come from its profile or its client"),
        ("inApps", "paths are the client's"),
        ("subscriptions/", "paths are the client's"),
        ("4_0", "a refusal says by its meaning what follows from it"),
        ("issuer", "the members of a key are in the store's profile"),
        ("sharedSecret:", "credentials are named by the store's profile"),
        ("signed_transaction", "kinds of evidence are declared by their store"),
        ("signedPayload", "evidence is read by its store's adapter"),
        ("signedTransactionInfo", "evidence is read by its store's adapter"),
        ("receipt-data", "requests are the client's"),
        ("SUCCESS", "whether a notification arrived is told by the client"),
    ]
    /// The places that name every store: the enumeration, and the default store.
    static let names = "Sources/Core/Names/Environment.swift"

    @Test(
        "No target but a store's own knows its words",
        arguments: SourceTree.sources.filter { neutral.contains($0.target) && $0.path != names })
    func words(_ file: SourceTree.File) {
        // The log and the API use this word for an app's number in its store.
        let lines = file.lines.map { $0.replacing(".appleID", with: "") }
            .filter { !$0.drop(while: \.isWhitespace).starts(with: "//") }
        for (word, why) in Self.own where lines.contains(where: { $0.contains(word) }) {
            Issue.record("\(file) has \"\(word)\": \(why)")
        }
    }

    @Test("Each of these words occurs in a store's own target")
    func known() {
        let adapters: Set<String> = ["AppStore", "Evidence", "Practice"]
        let text = SourceTree.sources.filter { adapters.contains($0.target) }.map(\.text).joined()
        for (word, _) in Self.own where word != ".google" && word != "sharedSecret:" {
            #expect(text.contains(word), "\(word) is no store's word any more")
        }
    }
}
