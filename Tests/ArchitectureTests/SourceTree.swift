import Foundation

/// The Swift files of this project, read from disk.
struct SourceTree {
    struct File: Sendable, CustomStringConvertible {
        /// For example `Sources/Core/Events/Event.swift`.
        let path: String
        let text: String

        var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
        /// For example `Core`.
        var target: String {
            path.hasPrefix("sql/") ? "SQL" : String(path.split(separator: "/")[1])
        }
        var description: String { path }
    }

    static let sources = files(in: ["Sources", "sql"])
    static let tests = files(in: ["Tests"])
    static let targets = Set(sources.map(\.target)).sorted()

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func files(in folders: [String]) -> [File] {
        folders.flatMap { folder -> [File] in
            let base = root.appendingPathComponent(folder)
            let names = FileManager.default.enumerator(atPath: base.path)?.allObjects ?? []
            return names.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted()
                .compactMap { name in
                    let text = try? String(
                        contentsOf: base.appendingPathComponent(name), encoding: .utf8)
                    return text.map { File(path: "\(folder)/\(name)", text: $0) }
                }
        }
    }
}

/// Returns Swift code without comments and without the content of strings. The line numbers stay the same.
func codeOnly(_ text: String) -> String {
    var result: [Character] = []
    var rest = Array(text)[...]
    func starts(_ prefix: String) -> Bool { rest.starts(with: prefix) }
    while let character = rest.first {
        if starts("//") {
            rest = rest.drop { !$0.isNewline }
        } else if starts("\"\"\"") || starts("#\"") || character == "\"" {
            let opening = starts("\"\"\"") ? "\"\"\"" : starts("#\"") ? "#\"" : "\""
            let closing = opening == "#\"" ? "\"#" : opening
            rest = rest.dropFirst(opening.count)
            while !rest.isEmpty, !starts(closing) {
                if opening != "#\"", rest.first == "\\" { rest = rest.dropFirst() }
                if rest.first?.isNewline == true { result.append("\n") }
                rest = rest.dropFirst()
            }
            rest = rest.dropFirst(closing.count)
        } else {
            result.append(character)
            rest = rest.dropFirst()
        }
    }
    return String(result)
}
