import JSON
import Synchronization
import Testing

@testable import Telemetry

@Suite("Log lines")
struct LogTests {
    /// Returns the lines that these calls write, in order.
    private func lines(_ body: (Log) -> Void) -> [String] {
        let written = Mutex<[String]>([])
        body(Log { line in written.withLock { $0.append(line) } })
        return written.withLock { $0 }
    }

    @Test("A line is one JSON object that begins with its level and its event")
    func object() {
        let written = lines { log in
            log.info("started", ["port": 8080])
            log.warning("few_descriptors")
            log.error("database_unreachable", ["remedy": "start it"])
        }
        #expect(
            written == [
                #"{"level":"info","event":"started","port":8080}"#,
                #"{"level":"warning","event":"few_descriptors"}"#,
                #"{"level":"error","event":"database_unreachable","remedy":"start it"}"#,
            ])
    }

    @Test(
        "A text that would end the line or the object does neither",
        arguments: ["two\nlines", "a\r\nb", #"","level":"info"#, "\u{0}", "\u{2028}"])
    func hostile(_ text: String) throws {
        let written = lines { $0.warning("key_refused", ["address": .string(text)]) }
        let line = try #require(written.first)
        #expect(written.count == 1)
        #expect(!line.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 })
        #expect(try JSON.read(line)["address"]?.string == text)
        #expect(try JSON.read(line)["level"]?.string == "warning")
    }
}
