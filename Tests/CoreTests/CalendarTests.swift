import Core
import Histories
import Testing

@Suite("Instants and calendar time")
struct CalendarTests {
    @Test(
        "An instant is written as RFC 3339 with milliseconds and read back",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (1_795_202_460_000, "2026-11-20T19:21:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func text(_ milliseconds: Int64, _ text: String) {
        #expect(Instant(milliseconds: milliseconds).text == text)
        #expect(Instant(text: text) == Instant(milliseconds: milliseconds))
    }

    @Test(
        "A year outside RFC 3339 is written with a sign, and only read on request",
        arguments: [
            (-62_167_219_200_001, "-000001-12-31T23:59:59.999Z"),
            (253_402_300_800_000, "+010000-01-01T00:00:00.000Z"),
            (Int64.max, "+292278994-08-17T07:12:55.807Z"),
            (Int64.min, "-292275055-05-16T16:47:04.192Z"),
        ] as [(Int64, String)])
    func expandedText(_ milliseconds: Int64, _ text: String) {
        #expect(Instant(milliseconds: milliseconds).text == text)
        #expect(Instant(expandedText: text) == Instant(milliseconds: milliseconds))
        #expect(Instant(text: text) == nil)
    }

    @Test(
        "Other spellings of the same instant are read",
        arguments: [
            "2026-11-20T19:21:00Z", "2026-11-20T19:21:00.0Z", "2026-11-20t19:21:00.000999z",
            "2026-11-20T22:21:00+03:00", "2026-11-20T22:21:00.000+0300",
            "2026-11-20T11:51:00-07:30",
        ])
    func spellings(_ text: String) {
        #expect(Instant(text: text)?.text == "2026-11-20T19:21:00.000Z")
    }

    @Test(
        "Text that is no instant is refused",
        arguments: [
            "", "2026-11-20", "2026-11-20T19:21:00", "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z", "2026-11-20T24:00:00Z", "2026-11-20T23:59:60Z",
            "2026-11-20T19:21:00.Z", "2026-11-20T19:21:00Zx", "+026-11-20T19:21:00Z",
            "2026-11-20 19:21:00Z", "２026-11-20T19:21:00Z",
        ])
    func notAnInstant(_ text: String) {
        #expect(Instant(text: text) == nil)
    }

    @Test("The ends of time do not overflow")
    func ends() {
        #expect(Instant.distantFuture.advanced(byMilliseconds: 1) == .distantFuture)
        #expect(Instant.distantPast.advanced(byMilliseconds: -1) == .distantPast)
        #expect(CivilDate(.distantFuture).instant == .distantFuture)
        #expect(CivilDate(.distantPast).instant == .distantPast)
        #expect(CalendarDuration("P9999Y")?.end(after: .distantFuture) == .distantFuture)
    }

    @Test(
        "A duration is added in calendar time",
        arguments: [
            ("P1M", "2026-01-31T10:00:00.000Z", "2026-02-28T10:00:00.000Z"),
            ("P1M", "2028-01-31T10:00:00.000Z", "2028-02-29T10:00:00.000Z"),
            ("P1Y", "2028-02-29T00:00:00.000Z", "2029-02-28T00:00:00.000Z"),
            ("P4Y", "2028-02-29T00:00:00.000Z", "2032-02-29T00:00:00.000Z"),
            ("P3M", "2026-11-30T00:00:00.000Z", "2027-02-28T00:00:00.000Z"),
            ("P30D", "2026-12-15T00:00:00.000Z", "2027-01-14T00:00:00.000Z"),
            ("P2W", "2026-12-25T00:00:00.000Z", "2027-01-08T00:00:00.000Z"),
            ("PT36H", "2026-12-31T00:00:00.000Z", "2027-01-01T12:00:00.000Z"),
            ("P1Y2M3DT4H5M6S", "2026-01-01T00:00:00.000Z", "2027-03-04T04:05:06.000Z"),
            ("P1M", "1969-12-31T23:59:59.999Z", "1970-01-31T23:59:59.999Z"),
            ("P1D", "9999-12-31T00:00:00.000Z", "+010000-01-01T00:00:00.000Z"),
        ])
    func durations(_ duration: String, _ start: String, _ end: String) throws {
        let start = try #require(Instant(text: start))
        #expect(CalendarDuration(duration)?.end(after: start).text == end)
    }

    @Test(
        "Text that is no duration is refused",
        arguments: [
            "", "P", "PT", "P1", "1D", "P1H", "P1DT", "P1D1M", "P1M1M", "P-1D", "P1.5D", "P0D",
            "PT1D", "p1d", "P99999999999D", "P1D ",
        ])
    func notADuration(_ text: String) {
        #expect(CalendarDuration(text) == nil)
    }

    @Test("Every day of four centuries is its own day")
    func everyDay() {
        var previous = CivilDate(Instant(milliseconds: -86_400_000))
        for day in 0..<146_097 as Range<Int64> {
            let instant = Instant(milliseconds: day * 86_400_000)
            let date = CivilDate(instant)
            #expect(date.instant == instant)
            #expect(
                date.day == previous.day + 1 && date.month == previous.month
                    || date.day == 1
                        && previous.day
                            == CivilDate.days(inMonth: previous.month, of: previous.year)
            )
            previous = date
        }
    }
}

@Suite("Identifiers")
struct IdentifierTests {
    @Test(
        "Any printable UTF-8 is an identifier",
        arguments: ["u1", "a/b c", "ü", "玩家🎮", "👩‍👩‍👧", String(repeating: "x", count: 256), "$"])
    func printable(_ text: String) throws {
        #expect(try CustomerID(text).text == text)
    }

    @Test(
        "Unprintable, empty and overlong texts are refused",
        arguments: [
            ("", .empty), ("a\u{0}", .unprintable), ("a\nb", .unprintable),
            ("a\u{7F}", .unprintable), ("a\u{85}b", .unprintable), ("\u{2028}", .unprintable),
            (String(repeating: "ü", count: 129), .tooLong),
        ] as [(String, InvalidIdentifier.Reason)])
    func refused(_ text: String, _ reason: InvalidIdentifier.Reason) {
        #expect(throws: InvalidIdentifier(reason: reason)) { try CustomerID(text) }
    }

    @Test("Two spellings of one accented letter are two customers")
    func bytewise() throws {
        let composed = try CustomerID("\u{E9}")
        let decomposed = try CustomerID("e\u{301}")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }
}
