import Commands
import Foundation
import Glibc

/// A settings file that systemd and shells can read, with lines such as `DEED_LISTEN="127.0.0.1:8080"`.
struct SettingsFile {
    private static let mark = "# Written by deed setup, which can be run again."

    let path: String
    private var lines: [String] = []
    private let text: String?

    /// The folder with the file. Its owner can replace the file.
    var folder: String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

    /// Reads the file. A missing file counts as empty. Root follows no link, because the folder may be another user's.
    init(_ path: String) throws(CommandEnd) {
        self.path = path
        let place = URL(fileURLWithPath: path)
        let folder = place.deletingLastPathComponent().path
        if getuid() != 0 {
            text = fileExists(path) ? try readFile(path) : nil
        } else {
            text =
                fileExists(folder) ? try HeldFolder(folder).text(of: place.lastPathComponent) : nil
        }
        lines = (text ?? "").split(separator: "\n").map(String.init)
    }

    /// Whether the file was written by a set-up.
    var isSetUp: Bool { lines.contains(SettingsFile.mark) }

    /// Whether the text is unchanged since the file was read.
    var isUnchanged: Bool { text != nil && text == newText }

    var newText: String { lines.map { $0 + "\n" }.joined() }

    subscript(name: String) -> String? {
        lines.last { $0.hasPrefix("\(name)=") }
            .map { SettingsFile.unquoted($0.dropFirst(name.count + 1)) }
    }

    /// Sets these variables, and removes those without a value. Other lines stay unchanged.
    mutating func set(_ variables: [(name: String, value: String?)]) {
        if !isSetUp { lines.insert(SettingsFile.mark, at: 0) }
        for (name, value) in variables where self[name] != value {
            let place = lines.firstIndex { $0.hasPrefix("\(name)=") }
            lines.removeAll { $0.hasPrefix("\(name)=") }
            guard let value else { continue }
            let line = "\(name)=\(SettingsFile.quoted(value))"
            lines.insert(line, at: min(place ?? lines.count, lines.count))
        }
    }

    /// Returns the value in quotes. Four characters have a special meaning to systemd and shells, even in double
    /// quotes.
    private static func quoted(_ value: String) -> String {
        let plain = value.allSatisfy {
            $0.isASCII && ($0.isLetter || $0.isNumber || "/.:_-@[]".contains($0))
        }
        if plain { return value }
        return "\"" + value.map { "\"\\`$".contains($0) ? "\\\($0)" : "\($0)" }.joined() + "\""
    }

    private static func unquoted(_ text: Substring) -> String {
        guard let quote = text.first, "\"'".contains(quote), text.count > 1, text.last == quote
        else { return String(text) }
        let inner = text.dropFirst().dropLast()
        if quote == "'" { return String(inner) }
        var value = ""
        var isEscaped = false
        for letter in inner {
            if letter == "\\", !isEscaped {
                isEscaped = true
            } else {
                value.append(letter)
                isEscaped = false
            }
        }
        return value
    }
}
