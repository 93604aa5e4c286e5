import Core
import Testing

@testable import Jobs

@Suite("When jobs are due")
struct ScheduleTests {
    private func instant(_ text: String) throws -> Instant { try #require(Instant(text: text)) }

    @Test(
        "A time of day comes next strictly after an instant, in UTC",
        arguments: [
            ("03:00", "2026-11-20T02:59:59.999Z", "2026-11-20T03:00:00Z"),
            ("03:00", "2026-11-20T03:00:00Z", "2026-11-21T03:00:00Z"),
            ("00:00", "2026-12-31T23:59:00Z", "2027-01-01T00:00:00Z"),
            ("23:59", "1969-12-30T12:00:00Z", "1969-12-30T23:59:00Z"),
            ("12:00", "1969-12-30T12:00:00Z", "1969-12-31T12:00:00Z"),
        ])
    func timeOfDay(_ time: String, _ after: String, _ next: String) throws {
        let time = try #require(TimeOfDay(time))
        #expect(time.next(after: try instant(after)) == (try instant(next)))
    }

    @Test(
        "Other texts are no time of day",
        arguments: ["", "3:00", "24:00", "03:60", "03-00", "03:00:00", "+3:00", "1:034", "aa:bb"])
    func noTime(_ text: String) { #expect(TimeOfDay(text) == nil) }

    @Test("A daily job that never ran waits for its time, and one that missed it does not")
    func daily() throws {
        let daily = Schedule.daily(try #require(TimeOfDay("03:00")))
        let known = try instant("2026-11-20T14:00:00Z")
        let first = daily.due(after: nil, known: known, now: known)
        #expect(first == (try instant("2026-11-21T03:00:00Z")))
        let missed = daily.due(
            after: try instant("2026-11-18T03:00:01Z"), known: known, now: known)
        #expect(missed < known)
    }

    @Test(
        "A daily job that ran or became known while the clock was ahead is due at once, also after its time"
    )
    func dailySetBack() throws {
        let daily = Schedule.daily(try #require(TimeOfDay("03:00")))
        let ahead = try instant("2026-12-30T14:00:00Z")
        for text in ["2026-11-20T14:00:00Z", "2026-11-21T03:00:01Z"] {
            let now = try instant(text)
            #expect(daily.due(after: ahead, known: now, now: now) == now)
            #expect(daily.due(after: nil, known: ahead, now: now) == now)
        }
    }

    @Test(
        "A job with an interval is due at once if it never ran, or if the clock was set back")
    func interval() throws {
        let hourly = Schedule.once(milliseconds: 3_600_000)
        let now = try instant("2026-11-20T14:00:00Z")
        let later = now.advanced(byMilliseconds: 1)
        #expect(hourly.due(after: nil, known: now, now: now) == now)
        #expect(hourly.due(after: later, known: now, now: now) == now)
        #expect(
            hourly.due(after: now, known: now, now: later)
                == now.advanced(byMilliseconds: 3_600_000))
    }

    @Test("Each pause after a failure is twice as long as the one before, up to the longest")
    func pauses() {
        let job = Job("j", .everywhere(milliseconds: 15_000)) { _ in .asScheduled }
        #expect((1...8).map(job.pause) == [1, 2, 4, 8, 16, 32, 60, 60].map { $0 * 1000 })
        let quick = Job("q", .everywhere(milliseconds: 50), longestPause: 50) { _ in .asScheduled }
        #expect([1, 2, 100].map(quick.pause) == [50, 50, 50])
    }
}
