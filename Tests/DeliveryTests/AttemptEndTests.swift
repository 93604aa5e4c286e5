import Core
import Testing

@testable import Delivery
@testable import Outbound

@Suite("How an attempt ended")
struct AttemptEndTests {
    /// 2026-11-28 08:00 UTC
    private let now = Instant(milliseconds: 1_795_852_800_000)

    private func end(
        _ status: Int, retryAfter: String? = nil, body: [UInt8] = [], hiding headers: [String] = []
    ) -> AttemptEnd {
        let fields = retryAfter.map { [("retry-after", $0)] } ?? []
        return AttemptEnd(
            .success(OutboundResponse(status: status, headers: fields, body: body)),
            hiding: headers, at: now)
    }

    @Test(
        "Retry-After counts as seconds and as a date, and for a day at most",
        arguments: [
            ("1", 1000), ("0", 0), ("-5", 0), ("86400", 86_400_000), ("86401", 86_400_000),
            ("999999", 86_400_000), ("Sat, 28 Nov 2026 08:02:00 GMT", 120_000),
            ("Sat, 28 Nov 2026 07:00:00 GMT", 0), ("Tue, 01 Dec 2026 08:00:00 GMT", 86_400_000),
            ("soon", nil), ("", nil), ("Sat, 28 Non 2026 08:02:00 GMT", nil),
        ] as [(String, Int64?)])
    func retryAfter(_ text: String, _ milliseconds: Int64?) {
        for status in [429, 503] {
            #expect(end(status, retryAfter: text).retryAfter == milliseconds, "\(status)")
        }
    }

    @Test("Only 429 and 503 may ask for a pause", arguments: [200, 307, 404, 410, 500, 502])
    func others(_ status: Int) {
        #expect(end(status, retryAfter: "60").retryAfter == nil)
    }

    @Test(
        "2xx is done, and nothing else", arguments: [200, 204, 299, 300, 307, 404, 410, 429, 500])
    func delivered(_ status: Int) {
        #expect(end(status).isDelivered == (status < 300))
    }

    @Test("The first 4 KiB of an answer are kept")
    func longAnswer() {
        let kept = end(500, body: Array(repeating: UInt8(ascii: "a"), count: 5000)).answer
        #expect(kept == String(repeating: "a", count: 4096))
        #expect(end(500, body: [0, 0x61]).answer == "\u{FFFD}a")
    }

    @Test("A kept answer does not have the fixed headers that the receiver repeats")
    func echoed() {
        let secret = "Bearer tok\"en-12345678"
        let said = """
            {"authorization":"Bearer tok\\"en-12345678","x-shop":"s1"} no Bearer tok"en-12345678; \
            a token tok"en-12345678 of shop s1
            """
        let kept = end(401, body: Array(said.utf8), hiding: [secret, "s1", ""]).answer
        #expect(kept == #"{"authorization":"***","x-shop":"***"} no ***; a token *** of shop ***"#)
        let escaped = end(401, body: Array(#"{"a":"b\/c\/d"}"#.utf8), hiding: ["b/c/d"]).answer
        #expect(escaped == #"{"a":"***"}"#)
        // The value is hidden even where the kept part ends.
        let edge = String(repeating: "a", count: 4090) + "s3cret-value"
        let cut = end(200, body: Array(edge.utf8), hiding: ["s3cret-value"]).answer
        #expect(cut == String(repeating: "a", count: 4090) + "***")
    }
}
