import Foundation
import TestSupport
import Testing

extension ProgramTests {
    @Suite("The page of metrics")
    struct MetricsPage {
        /// `DEED_RECORD_METRICS=1` rewrites the page's table.
        @Test("It has every metric of a service, with its type and meaning, and no other")
        func reference() throws {
            let deed = try Installation(ScratchDatabase())
            let service = try deed.serve("--console")
            var client = try APIClient(key: "")
            let text = try client.send("GET", "\(service.url)/metrics").text
            var rows: [String] = []
            let lines = text.split(separator: "\n")
            for (place, line) in lines.enumerated() where line.hasPrefix("# HELP ") {
                let words = line.split(separator: " ", maxSplits: 3)
                let type = lines[place + 1].split(separator: " ").last ?? ""
                let labels = lines[place + 2].matches(of: /([a-z_]+)="/).map { "`\($0.1)`" }
                    .filter { $0 != "`le`" }
                rows.append(
                    "| `\(words[2])` | \(type) | \(labels.joined(separator: ", ")) | \(words[3]) |")
            }
            let table = rows.sorted().joined(separator: "\n")
            #expect(rows.count > 45)
            let page = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../docs/metrics.md")
            let written = try String(contentsOf: page, encoding: .utf8)
            let head = "|---|---|---|---|\n"
            let parts = written.components(separatedBy: head)
            try #require(parts.count == 2)
            let found = parts[1].components(separatedBy: "\n\n")[0]
                .trimmingCharacters(in: .newlines)
            if ProcessInfo.processInfo.environment["DEED_RECORD_METRICS"] != nil {
                try (parts[0] + head + table + "\n").write(
                    to: page, atomically: true, encoding: .utf8)
                return
            }
            #expect(found == table)
        }
    }
}
