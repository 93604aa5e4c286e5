import Foundation
import Testing

@Suite("Size budget")
struct SizeTests {
    @Test("A file has at most 400 lines", arguments: SourceTree.sources + SourceTree.tests)
    func file(_ file: SourceTree.File) {
        #expect(file.lines.count <= 400, "\(file) has \(file.lines.count) lines")
    }

    @Test("A target has at most a dozen files at its root", arguments: SourceTree.targets)
    func root(_ target: String) {
        let names: [String] = SourceTree.sources.filter { file in
            file.target == target && file.path.split(separator: "/").count == 3
                && file.path.hasPrefix("Sources/")
        }.map(\.path)
        #expect(names.count <= 12, "\(target) has \(names.count) files at its root: \(names)")
    }

    @Test("A function has at most 70 lines", arguments: SourceTree.sources)
    func functions(_ file: SourceTree.File) {
        for function in functions(of: file) where function.lines > 70 {
            Issue.record("\(file):\(function.start) \(function.name) has \(function.lines) lines")
        }
    }

    @Test("Half of all functions have fewer than 10 lines")
    func median() {
        let lengths = SourceTree.sources.flatMap { functions(of: $0) }.map(\.lines).sorted()
        #expect(lengths[lengths.count / 2] < 10)
    }

    @Test("A port has at most 7 functions, as closures or as a protocol")
    func ports() {
        // A member's type may be on the next line.
        let ports =
            declarations(of: "struct").filter { $0.prefix(40).contains("Port:") }
            .map { ($0, functions: $0.count(of: "    package var ")) }
            + declarations(of: "protocol").map { ($0, functions: $0.count(of: "    func ")) }
        #expect(ports.count > 7)
        for (port, functions) in ports {
            #expect(functions <= 7, "\(port.prefix(20)) has \(functions) functions")
        }
    }

    /// Returns the package's declarations of that kind, each from its name onward.
    private func declarations(of kind: String) -> [String] {
        SourceTree.sources.flatMap { file in
            codeOnly(file.text).components(separatedBy: "package \(kind) ").dropFirst()
        }.map { $0.components(separatedBy: "\n}")[0] }
    }

    struct Function {
        let name: String
        let start: Int
        let lines: Int
    }

    /// Returns every function with a body, from its keyword to its closing brace.
    private func functions(of file: SourceTree.File) -> [Function] {
        let lines = codeOnly(file.text).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.compactMap { index in
            let words = lines[index].split { " (<".contains($0) }
            guard words.contains(where: { ["func", "init", "deinit"].contains($0) }),
                let length = bodyLength(lines[index...])
            else { return nil }
            return Function(name: String(lines[index]), start: index + 1, lines: length)
        }
    }

    /// Returns the number of lines up to the brace that closes the first one, or `nil` without a body.
    private func bodyLength(_ lines: ArraySlice<Substring>) -> Int? {
        var depth = 0
        for (count, line) in lines.enumerated() {
            for character in line {
                if character == "{" { depth += 1 }
                if character == "}" { depth -= 1 }
                if depth < 0 { return nil }
                if depth == 0, character == "}" { return count + 1 }
            }
            // Protocol requirements and calls have no body.
            if depth == 0, count > 12 { return nil }
        }
        return nil
    }
}

extension String {
    /// Returns the number of lines that begin with this text.
    fileprivate func count(of beginning: String) -> Int {
        split(separator: "\n").count { $0.hasPrefix(beginning) }
    }
}
