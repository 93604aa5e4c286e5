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

    @Test("Each row of the page about thieves names existing tests")
    func thieves() throws {
        let page = SourceTree.root.appending(path: "docs/security.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let rows = try #require(text.firstMatch(of: /(?s)\n\|---\|---\|---\|---\|\n(.*?)\n\n/)).1
        let tests = SourceTree.tests.map(\.text).joined()
        var named = 0
        for row in rows.split(separator: "\n") {
            let cells = row.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 6 else {
                Issue.record("\(row) has not four cells")
                continue
            }
            let titles = cells[4].matches(of: /"([^"]+)"/).map { "\"\($0.1)\"" }
            let suites = cells[4].matches(of: /`(\w+)`/).map { " \($0.1) " }
            #expect(!titles.isEmpty || !suites.isEmpty, "no test: \(cells[1])")
            for name in titles + suites { #expect(tests.contains(name), "\(name)") }
            named += titles.count + suites.count
        }
        #expect(named > 20)
    }

    /// The audit compares the tables that follow from the log. The page about growth lists them.
    @Test("The pages say for each table whether the audit compares it")
    func auditedTables() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: SourceTree.root.appending(path: path), encoding: .utf8)
        }
        let page = try text("docs/auditing.md")
        let chapter = try text("docs/growth.md").components(separatedBy: "\n### ")
            .first { $0.hasPrefix("What follows from the log\n") }
        let compared = try #require(chapter).matches(of: /(?m)^\| `(deed\.\w+)` \|/)
            .map { String($0.1) }
        let declared = SourceTree.sources.filter { $0.path.contains("Ledger/Tables/") }
            .flatMap { $0.text.matches(of: /Table\(\s*"([a-z_]+)"/).map { "deed.\($0.1)" } }
        #expect(Set(compared) == Set(declared + ["deed.kept_states"]))
        let tables = try text("sql/schema.txt").matches(of: /(?m)^(deed\.\w+) \| kind \| table$/)
            .map { String($0.1) }
        #expect(tables.count > 30)
        for table in tables where !compared.contains(table) && !page.contains("`\(table)`") {
            Issue.record("docs/auditing.md does not name \(table)")
        }
    }

    @Test("The page about growth says for each table what bounds it, and names no other")
    func boundedTables() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: SourceTree.root.appending(path: path), encoding: .utf8)
        }
        let rows = try text("docs/growth.md")
            .matches(of: /(?m)^\| `(deed\.\w+)` \| ([^|]+) \| ([^|]+) \|$/)
        let named = rows.map { String($0.1) }
        let tables = try text("sql/schema.txt").matches(of: /(?m)^(deed\.\w+) \| kind \| table$/)
            .map { String($0.1) }
        #expect(tables.count > 30)
        #expect(Set(named) == Set(tables), "each table has a row in docs/growth.md")
        #expect(named.count == Set(named).count)
        for row in rows {
            let bound = row.3.trimmingCharacters(in: .whitespaces)
            #expect(!bound.isEmpty, "\(row.1)")
        }
        let files = try text("docs/growth.md")
        for file in ["seen/", "keys/", "postgres/deed.log", "service.lock"] {
            #expect(files.contains("`\(file)`"), "\(file)")
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

    @Test("The checklists for contributors name existing files")
    func checklists() throws {
        let page = SourceTree.root.appending(path: "CONTRIBUTING.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let paths = text.matches(of: /`((Sources|Tests|docs|sql|scripts)\/[\w\/.-]+)`/).map(\.1)
        #expect(paths.count > 30)
        for path in paths {
            let place = SourceTree.root.appending(path: String(path)).path
            #expect(FileManager.default.fileExists(atPath: place), "\(path) is not there")
        }
    }
}
