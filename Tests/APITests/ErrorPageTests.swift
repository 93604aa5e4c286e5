import Foundation
import Testing

/// The parts of `docs/errors.md` that programs rely on.
struct ErrorPage {
    private let rows: [(status: Int, codes: Set<String>)]

    static let ours = Result { try ErrorPage() }
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private init() throws {
        let text = try String(
            contentsOf: Self.root.appending(path: "docs/errors.md"), encoding: .utf8)
        rows = text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|")
            guard cells.count == 3, let status = Int(cells[0].filter(\.isNumber))
            else { return nil }
            return (status, Set(cells[1].matches(of: /`([a-z_]+)`/).map { String($0.1) }))
        }
    }

    var codes: [String] { rows.flatMap(\.codes) }

    func lists(_ code: String, with status: Int) -> Bool {
        rows.contains { $0.status == status && $0.codes.contains(code) }
    }
}

@Suite("The page of errors")
struct ErrorPageTests {
    @Test("The page lists exactly the codes that answers can have, each once")
    func complete() throws {
        var written = Set<String>()
        let refusals =
            /\.(?:improper|forbidden|unknown|conflict|mismatch|tooLarge|full)\(\s*"([a-z_]+)"/
        for source in try sources(in: "Sources/Core") {
            for match in source.matches(of: refusals) { written.insert(String(match.1)) }
        }
        for source in try sources(in: "Sources/Core", named: "Refusal.swift") {
            for match in source.matches(of: /case \.\w+: "([a-z_]+)"/) {
                written.insert(String(match.1))
            }
        }
        let impediments = try text(of: "Sources/Core/Impediment.swift")
        for match in impediments.matches(of: /case \w+ = "([a-z_]+)"/) {
            written.insert(String(match.1))
        }
        for source in try sources(in: "Sources/API") {
            for match in source.matches(of: /code: (?:String = )?"([a-z_]+)"/) {
                written.insert(String(match.1))
            }
        }
        #expect(written.count > 40)
        #expect(try ErrorPage.ours.get().codes.sorted() == written.sorted())
    }

    private func sources(
        in folder: String, named suffix: String = ".swift"
    ) throws -> [String] {
        let path = ErrorPage.root.appending(path: folder).path
        return try FileManager.default.subpathsOfDirectory(atPath: path)
            .filter { $0.hasSuffix(suffix) }.map { try text(of: "\(folder)/\($0)") }
    }

    private func text(of path: String) throws -> String {
        try String(contentsOf: ErrorPage.root.appending(path: path), encoding: .utf8)
    }
}
