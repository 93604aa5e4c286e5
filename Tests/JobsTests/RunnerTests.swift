import Core
import Jobs
import Ledger
import Telemetry
import TestSupport
import Testing
import Threading

@Suite("Running jobs", .timeLimit(.minutes(20)))
struct RunnerTests {
    private static let hour: Int64 = 3_600_000
    private let database: ScratchDatabase
    private let clock = TestClock()
    private let logged = LoggedLines()
    private let metrics = Metrics()

    init() throws {
        database = try ScratchDatabase()
    }

    /// Returns a runner for a separate instance over the database.
    private func runner(_ jobs: Job...) -> Runner {
        Runner(
            jobs, leases: database.ledger(), now: clock.reading, machineClock: clock.reading,
            log: logged.log, metrics: metrics)
    }

    /// A counter that threads can wait for.
    private final class Tally: Sendable {
        private let count = Monitor(0)

        func add() { count.change { $0 += 1 } }
        var value: Int { count.change { $0 } }
        func reaches(_ wanted: Int, within milliseconds: Int64 = 10_000) -> Bool {
            count.wait(milliseconds: milliseconds) { $0 >= wanted ? true : nil } ?? false
        }
    }

    private func hourly(_ tally: Tally) -> Job {
        Job("hourly", .once(milliseconds: RunnerTests.hour)) { _ in
            tally.add()
            return .asScheduled
        }
    }

    private func stop(_ runners: Runner...) {
        for runner in runners { runner.stop() }
        for runner in runners { #expect(runner.unfinished(after: 10_000) == []) }
    }

    @Test("Among two instances, one runs a shared job, and again when its hour has passed")
    func once() {
        let tally = Tally()
        let (one, other) = (runner(hourly(tally)), runner(hourly(tally)))
        one.start()
        other.start()
        #expect(tally.reaches(1))
        for runner in [one, other] { runner.hurry() }
        #expect(!tally.reaches(2, within: 200))
        clock.advance(byMilliseconds: RunnerTests.hour)
        for runner in [one, other] { runner.hurry() }
        #expect(tally.reaches(2))
        #expect(!tally.reaches(3, within: 200))
        stop(one, other)
        // A run that takes no time appears only in the metrics, not in the log.
        #expect(logged.all.filter { $0.contains("job_done") } == [])
        let ended = clock.now.milliseconds / 1000
        let line = "deed_job_last_run_timestamp_seconds{job=\"hourly\"} \(ended)\n"
        #expect(metrics.text().contains(line))
    }

    @Test(
        "Once a clock that was ahead is right again, shared jobs run at once, and then at their times"
    )
    func setBack() throws {
        let (daily, hourly) = (Tally(), Tally())
        let night = Schedule.daily(try #require(TimeOfDay("03:00")))
        let runner = runner(
            Job("daily", night) { _ in
                daily.add()
                return .asScheduled
            }, self.hourly(hourly))
        func expect(_ days: Int, _ hours: Int) {
            runner.hurry()
            #expect(daily.reaches(days) && hourly.reaches(hours))
            runner.hurry()
            #expect(!daily.reaches(days + 1, within: 200))
            #expect(!hourly.reaches(hours + 1, within: 200))
        }
        runner.start()
        expect(0, 1)
        let step = 40 * 24 * RunnerTests.hour
        clock.advance(byMilliseconds: step)
        expect(1, 2)
        clock.advance(byMilliseconds: -step)
        expect(2, 3)
        // The clock starts in the evening.
        clock.advance(byMilliseconds: 12 * RunnerTests.hour)
        expect(3, 4)
        stop(runner)
    }

    @Test(
        "A long shared run is logged, and an instance's own run is not")
    func long() {
        let (alone, everywhere) = (Tally(), Tally())
        let slow = Job("slow", .alone(milliseconds: 60_000)) { _ in
            pause(milliseconds: 1100)
            alone.add()
            return .asScheduled
        }
        let own = Job("own", .everywhere(milliseconds: 60_000)) { _ in
            pause(milliseconds: 1100)
            everywhere.add()
            return .asScheduled
        }
        let runner = runner(slow, own)
        runner.start()
        #expect(alone.reaches(1) && everywhere.reaches(1))
        stop(runner)
        let lines = logged.all.filter { $0.contains(#""event":"job_done""#) }
        #expect(lines.count == 1 && lines.allSatisfy { $0.contains(#""job":"slow""#) })
    }

    @Test("If an instance dies with the lease, another one runs the job after the lease")
    func takenOver() throws {
        let ledger = database.ledger()
        let dead = try #require(
            try ledger.takeLease(
                of: "hourly", at: clock.now, until: clock.now.advanced(byMilliseconds: 15_000),
                lastRun: nil))
        let tally = Tally()
        let runner = runner(hourly(tally))
        runner.start()
        #expect(!tally.reaches(1, within: 200))
        clock.advance(byMilliseconds: 15_000)
        runner.hurry()
        #expect(tally.reaches(1))
        stop(runner)
        #expect(try !ledger.keep(dead, until: clock.now))
        try ledger.end(dead, ranAt: .distantFuture)
        #expect(try ledger.lastRun(of: "hourly") == clock.now)
    }

    @Test("A failed run is logged once, resumed, and resumed at once when hurried")
    func failing() {
        let tally = Tally()
        let runner = runner(
            Job("failing", .everywhere(milliseconds: 60_000)) { _ throws(Fault) in
                tally.add()
                if tally.value < 4 { throw .broken("the reason") }
                return .asScheduled
            })
        runner.start()
        #expect(tally.reaches(1))
        // The pause after a failure has grown to a second.
        for run in 2...4 {
            runner.hurry("failing")
            #expect(tally.reaches(run, within: 900))
        }
        stop(runner)
        let lines = logged.all.filter { $0.contains("job_failed") }
        #expect(lines.count == 1 && lines.allSatisfy { $0.contains("the reason") })
        #expect(metrics.text().contains("deed_job_failures_total{job=\"failing\"} 3\n"))
    }

    @Test("A job that cannot reach a database that others reach says so after three times")
    func puzzling() throws {
        let tally = Tally()
        let ledger = database.ledger()
        let job = Job("stuck", .everywhere(milliseconds: 10), longestPause: 10) { _ throws(Fault) in
            tally.add()
            throw .unavailable
        }
        let runner = Runner(
            [job], leases: ledger, now: clock.reading, machineClock: clock.reading,
            log: logged.log, metrics: metrics)
        func failures() -> [String] { logged.all.filter { $0.contains("job_failed") } }
        // This job fails because the database is unavailable.
        runner.start()
        #expect(tally.reaches(6))
        #expect(failures() == [])
        var told = false
        for _ in 0..<200 where !told {
            _ = try ledger.look()
            pause(milliseconds: 20)
            told = !failures().isEmpty
        }
        stop(runner)
        let lines = failures()
        #expect(lines.count == 1, "\(lines)")
        #expect(lines.first?.contains(#""job":"stuck""#) == true)
        #expect(lines.first?.contains("three times in a row") == true)
        ledger.close()
    }

    @Test("The next run comes when the last one wanted it, even before the schedule")
    func early() {
        let tally = Tally()
        let clock = clock
        let due = clock.now.advanced(byMilliseconds: 1000)
        let runner = runner(
            Job("early", .everywhere(milliseconds: 60_000)) { _ in
                // Reads the clock first, because the test moves it as soon as the run is counted.
                let isEarly = clock.now < due
                tally.add()
                return isEarly ? .at(due) : .asScheduled
            })
        runner.start()
        #expect(tally.reaches(1))
        clock.advance(byMilliseconds: 1000)
        #expect(tally.reaches(2))
        #expect(!tally.reaches(3, within: 100))
        stop(runner)
    }

    @Test("A stop tells the current run, and names those that do not end in time")
    func stopping() {
        let (begun, tally) = (Tally(), Tally())
        let isFree = Monitor(false)
        let polite = Job("polite", .everywhere(milliseconds: 10)) { run in
            begun.add()
            while run.goesOn { pause(milliseconds: 1) }
            tally.add()
            return .atOnce
        }
        let stubborn = Job("stubborn", .everywhere(milliseconds: 10)) { _ in
            begun.add()
            tally.add()
            isFree.wait { $0 ? () : nil }
            return .atOnce
        }
        let runner = runner(polite, stubborn)
        runner.start()
        #expect(begun.reaches(2))
        runner.stop()
        #expect(runner.unfinished(after: 300) == ["stubborn"])
        isFree.change { $0 = true }
        #expect(runner.unfinished(after: 10_000) == [])
        #expect(tally.value == 2)
    }
}
