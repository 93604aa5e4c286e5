import Foundation
import Testing

@Suite("Words")
struct PhraseTests {
    /// Phrases that hide the acting subject, or that no native speaker would use. This list is only a minimum.
    private static let phrases = [
        "whoever ", "nobody ", "those who ", "so many of", "is told elsewhere",
        "are told elsewhere", "argument too many", "more is waiting than may",
        "it is not known which",
        "as often as wanted", "what there is of", "of before it",
    ]

    /// The texts that people read: sources, the parts of the API's description, and pages.
    private static let texts: [(path: String, text: String)] = {
        let folders = ["Sources/COpenAPI/parts", "docs", "docs/decisions"]
        let listed = folders.flatMap { folder in
            let files = try? FileManager.default.contentsOfDirectory(
                at: SourceTree.root.appending(path: folder), includingPropertiesForKeys: nil)
            return (files ?? []).filter { ["md", "json"].contains($0.pathExtension) }
        }
        let pages =
            listed + ["README.md", "CONTRIBUTING.md"].map { SourceTree.root.appending(path: $0) }
        return SourceTree.sources.map { ($0.path, $0.text.lowercased()) }
            + pages.map { page in
                let text = try? String(contentsOf: page, encoding: .utf8)
                return (page.lastPathComponent, text?.lowercased() ?? "")
            }
    }()

    @Test("No text uses a phrase that hides who does what", arguments: phrases)
    func refused(_ phrase: String) {
        #expect(Self.texts.count > 500)
        let found = Self.texts.filter { $0.text.contains(phrase) }
        #expect(found.map(\.path) == [], "say it with a subject instead of “\(phrase)”")
    }
}
