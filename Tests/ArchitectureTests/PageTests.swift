import Foundation
import Testing

@Suite("Pages")
struct PageTests {
    @Test("The index of a folder names each of its pages", arguments: ["docs", "docs/decisions"])
    func index(of folder: String) throws {
        let root = SourceTree.root.appending(path: folder)
        let index = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let pages = try FileManager.default.contentsOfDirectory(atPath: root.path)
            .filter { $0.hasSuffix(".md") && $0 != "README.md" }
        #expect(pages.count > 10)
        for page in pages where !index.contains("(\(page))") {
            Issue.record("\(folder)/README.md does not name \(page)")
        }
    }

    @Test(
        "A link from one page to another leads somewhere",
        arguments: ["", "docs", "docs/decisions"])
    func links(of folder: String) throws {
        let root = SourceTree.root.appending(path: folder)
        let pages = try FileManager.default.contentsOfDirectory(atPath: root.path)
            .filter { $0.hasSuffix(".md") }
        for page in pages {
            let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
            for link in text.matches(of: /\]\(([^):#]+)(#[^)]*)?\)/) {
                let target = root.appending(path: String(link.1)).path
                if !FileManager.default.fileExists(atPath: target) {
                    Issue.record("\(folder)/\(page) links to \(link.1), which is not there")
                }
            }
        }
    }
}
