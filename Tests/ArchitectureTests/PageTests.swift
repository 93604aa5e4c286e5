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

    @Test("Each test that the page about thieves names is there")
    func thieves() throws {
        let page = SourceTree.root.appending(path: "docs/security.md")
        let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
        let tests = SourceTree.tests.map(\.text).joined()
        var named = 0
        for row in rows {
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4, cells[3].hasPrefix("\"") else { continue }
            for name in cells[3].matches(of: /"([^"]+)"/) {
                named += 1
                #expect(tests.contains("\"\(name.1)\""), "\(name.1)")
            }
        }
        #expect(named > 10)
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
