import Foundation
import TestSupport
import Testing

extension ProgramTests {
    /// Compares all visible output with the last record, so that a change inside Deed shows what
    /// users would notice. `DEED_RECORD_TRANSCRIPT=1` records all parts again, and
    /// `DEED_RECORD_TRANSCRIPT=grants,notes` only these.
    @Suite("The transcript", .timeLimit(.minutes(20)))
    struct Transcripts {
        @Test("Every call and command gives the recorded answer, byte for byte")
        func same() throws {
            for (part, answered) in TranscriptPart.answered(TranscriptPart.chosen) {
                switch answered {
                case .failure(let error): Issue.record("\(part.name).txt: \(error)")
                case .success(let text) where TranscriptPart.isRecording: try part.record(text)
                case .success(let text): compare(text, with: try part.text(), part.name)
                }
            }
        }

        private func compare(_ answered: String, with recorded: String, _ name: String) {
            let (old, new) = (
                recorded.components(separatedBy: "\n"), answered.components(separatedBy: "\n")
            )
            for (number, (old, new)) in zip(old, new).enumerated() where old != new {
                Issue.record(
                    """
                    line \(number + 1) of \(name).txt was
                    \(old)
                    and is
                    \(new)
                    If this is right, record it with: scripts/record transcript=\(name)
                    """)
                return
            }
            #expect(old.count == new.count, "\(name).txt")
        }

        @Test("It has every call of the document, every command, and every cheap code")
        func whole() throws {
            let text = try TranscriptPart.all.map { try $0.text() }.joined()
            let transcript = try Transcript(text)
            let document = try APIDocument.current.get()
            var missing = Set(document.operations.map { "\($0.method) \($0.pattern)" })
            var commands = ""
            for step in transcript.steps {
                switch step.deed {
                case .call(_, let method, let target, _):
                    let path = String(target.split(separator: "?")[0])
                    if let found = document.find(method, path).found {
                        missing.remove("\(found.method) \(found.pattern)")
                    }
                case .command(let line): commands += "\n\(line) "
                case .bytes, .file, .statement: break
                }
            }
            #expect(missing.isEmpty)
            #expect(transcript.steps.count >= 200)
            let help = try Installation(url: "").run("--help").output
            let names = help.split(separator: "\n").filter { $0.hasPrefix("  deed ") }
                .compactMap { $0.dropFirst(7).components(separatedBy: "   ").first }
            // The service itself answers the calls, and a setup prints folders of the machine.
            let apart = ["serve", "setup"]
            #expect(names.filter { !apart.contains($0) && !commands.contains("\n\($0) ") } == [])
            let codes = try Transcripts.codes()
            let absent = codes.filter { !text.contains("\"code\":\"\($0)\"") }
            #expect(absent.subtracting(Transcripts.costly) == [])
            #expect(Transcripts.costly.subtracting(absent) == [])
        }

        /// Codes that need another database, thousands of calls or a race. Other tests cover them.
        private static let costly: Set<String> = [
            "account_shared",
            "answer_too_large",
            "busy",
            "clock_apart",
            "credentials_locked",
            "cursor_lost",
            "database_behind",
            "database_full",
            "database_read_only",
            "database_unavailable",
            "format_pending",
            "intake_full",
            "internal",
            "log_blocked",
            "program_outdated",
            "purchase_changed_meanwhile",
            "real_store_refused",
            "reconciliation_running",
            "row_unproven",
            "standby_missing",
            "stopping",
            "store_on_this_machine",
            "test_clock_missing",
            "too_many_allowed_apps",
            "too_many_apps",
            "too_many_connections",
            "too_many_grants",
            "too_many_keys",
            "too_many_merged",
            "too_many_notes",
            "too_many_orders",
            "too_many_replays",
            "too_many_requests",
            "too_many_support_limits",
            "too_many_tokens",
            "too_many_unclaimed",
            "too_many_webhooks",
            "too_much_at_once",
            "webhook_locked",
        ]

        /// Returns the codes on the page of errors.
        private static func codes() throws -> Set<String> {
            let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("docs/errors.md")
            let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
                .filter { $0.wholeMatch(of: /\| \d\d\d \|.*/) != nil }
            return Set(
                rows.flatMap { row in
                    row.split(separator: "|")[1].matches(of: /`([a-z0-9_]+)`/)
                        .map { String($0.output.1) }
                })
        }
    }
}
