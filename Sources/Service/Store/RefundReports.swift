package import Core
import Synchronization
import Wording

/// Takes and keeps leases, each of which only one instance can hold at a time.
package protocol Leases: Sendable {
    /// Takes the lease. Returns `nil` while another instance holds it.
    func takeLease(
        of name: String, at now: Instant, until end: Instant, lastRun: Instant?
    ) throws(Fault) -> Lease?
    /// Extends the lease. Returns false if it has been lost.
    func keep(_ lease: Lease, until end: Instant) throws(Fault) -> Bool
    func end(_ lease: Lease, ranAt: Instant?) throws(Fault)
}

/// The outcome of an attempt to report on a refund.
package struct RefundReportNews: Sendable {
    package enum Outcome: Sendable {
        case reported
        case unreported(RefundUnreported)
        /// The report will be sent later if possible, but only before the deadline.
        case waits(StoreTrouble)
    }
    package let project: ProjectID
    package let request: RefundFact
    package let outcome: Outcome
}

/// Sends stores reports on purchases for which a refund was requested, in projects that have enabled
/// such reports.
///
/// The report is in the log before it is sent. If a process crashes between the store's answer and the
/// event that records it, the identical report is sent once more.
package final class RefundReports: Sendable {
    /// How long answers still mention expired requests, in milliseconds.
    private static let memory: Int64 = 7 * 86_400_000
    /// How long the reports for an app pause after trouble with its store, in milliseconds. The store waits twelve
    /// hours for a report.
    private static let pause: Int64 = 5 * 60_000
    private static let pageSize = 200
    /// The lease lasts longer than a call to the store, including retries.
    private static let leaseMilliseconds: Int64 = 90_000

    private struct Wait {
        let since: Instant
        let until: Instant
        let obstacle: String
    }
    /// What a round of reports could not do.
    private struct Lacks {
        /// The number of customers who could not be read.
        var unread = 0
        /// Why the first request or project was passed over.
        private(set) var error: CommandError?

        /// Lets the round continue after an error. Rethrows faults that affect everything.
        mutating func passOver(_ error: CommandError) throws(CommandError) {
            if case .fault(let fault) = error, fault.isOfWholeDatabase { throw error }
            self.error = self.error ?? error
        }
    }

    private let intake: Intake
    private let reading: any CustomerReading
    private let leases: any Leases
    private let waits = Mutex<[StoreApp: Wait]>([:])

    package init(_ intake: Intake, _ reading: any CustomerReading, _ leases: any Leases) {
        self.intake = intake
        self.reading = reading
        self.leases = leases
    }

    /// Sends all due reports. Tells the number of customers for whom a report's content could not be determined. A
    /// request or a project that cannot be handled does not prevent other reports, because the store waits for each of
    /// them only for some hours; the first error is thrown at the end.
    package func report(
        while isWanted: () -> Bool, tell: (RefundReportNews) -> Void,
        unread: (Int) -> Void = { _ in }
    ) throws(CommandError) {
        var lacks = Lacks()
        let since = intake.now().advanced(byMilliseconds: -RefundReports.memory)
        for part in try obtain(intake.accounts.askedRefunds(after: since)) where isWanted() {
            do throws(CommandError) {
                try report(of: part, since, while: isWanted, tell: tell, &lacks)
            } catch {
                try lacks.passOver(error)
            }
        }
        unread(lacks.unread)
        if let error = lacks.error { throw error }
    }

    private func report(
        of part: ProjectPart, _ since: Instant, while isWanted: () -> Bool,
        tell: (RefundReportNews) -> Void, _ lacks: inout Lacks
    ) throws(CommandError) {
        let project = try obtain(intake.ledger.project(part.project))
        if project.settings.refundReporting == nil { return }
        var place: RefundPlace?
        repeat {
            let places = try obtain(
                intake.accounts.refundRequests(
                    of: part.project, part.environment, at: since, after: place,
                    limit: RefundReports.pageSize))
            try report(on: places, of: part, while: isWanted, tell: tell, &lacks)
            place = places.count == RefundReports.pageSize ? places.last : nil
        } while place != nil && isWanted()
    }

    private func report(
        on places: [RefundPlace], of part: ProjectPart, while isWanted: () -> Bool,
        tell: (RefundReportNews) -> Void, _ lacks: inout Lacks
    ) throws(CommandError) {
        let streams = places.map {
            Stream(
                project: part.project, environment: part.environment, customer: $0.customer)
        }
        let snapshots = try obtain(streams.isEmpty ? [] : reading.customers(streams))
        // An unreadable customer does not prevent reports about other customers.
        let read = zip(streams, snapshots).compactMap { stream, snapshot in
            (try? snapshot.get()).map { (stream, $0.customer.purchases) }
        }
        lacks.unread += streams.count - read.count
        let requests = read.flatMap { stream, purchases in
            purchases.flatMap(\.refundsToReport).map { (stream, $0) }
        }
        let apps = Dictionary(grouping: requests) { stream, request in
            StoreApp(
                project: stream.project, key: AppKey(store: request.store, id: request.app))
        }
        for (app, requests) in apps.sorted(by: { $0.key.key.id < $1.key.key.id }) {
            // If no request needs work now, no lease is needed.
            if !requests.contains(where: { isDue($0.1, app) }) { continue }
            let lease = try obtain(
                leases.takeLease(
                    of: leaseName(of: app), at: intake.machineClock(), until: leaseEnd,
                    lastRun: nil))
            guard let lease else { continue }
            defer { try? leases.end(lease, ranAt: nil) }
            for (stream, request) in requests.sorted(by: { $0.1.answerBy < $1.1.answerBy }) {
                if !isWanted() { break }
                if !isDue(request, app) { continue }
                do throws(CommandError) {
                    guard let outcome = try report(on: request, heldIn: stream, app, lease) else {
                        continue
                    }
                    tell(
                        RefundReportNews(
                            project: stream.project, request: request, outcome: outcome))
                } catch {
                    try lacks.passOver(error)
                }
            }
        }
    }

    /// Returns the name of the lease for reports on an app's refunds. The name stays short even if
    /// the app's own names are long.
    private func leaseName(of app: StoreApp) -> String {
        let names = "\(app.project.text)\u{0}\(app.key.store.rawValue)\u{0}\(app.key.id.text)"
        return "refund-reports-\(intake.secrets.digest(Array(names.utf8)).hexDigits.prefix(40))"
    }

    private var leaseEnd: Instant {
        intake.machineClock().advanced(byMilliseconds: RefundReports.leaseMilliseconds)
    }

    /// Returns whether the request needs work now: either the app may be tried again, or the
    /// deadline has passed.
    private func isDue(_ request: RefundFact, _ app: StoreApp) -> Bool {
        let now = intake.now()
        // If the clock was set back, the pause is over, because it would now last too long.
        let mayAsk = waits.withLock { $0[app] }.map { $0.until <= now || now < $0.since } ?? true
        return mayAsk || request.answerBy <= now
    }

    /// Takes the next step in reporting on the request. Returns `nil` if there was nothing to do.
    private func report(
        on request: RefundFact, heldIn stream: Stream, _ app: StoreApp, _ lease: Lease
    ) throws(CommandError) -> RefundReportNews.Outcome? {
        let prepared = try perform(
            .prepare(obstacle: waits.withLock { $0[app]?.obstacle }), on: request, heldIn: stream)
        if let unreported = prepared.unreported { return .unreported(unreported) }
        let held = prepared.state.customer?.purchase(request.purchase)
        guard let report = held?.report(on: request.id), report.end == nil,
            let content = report.content, prepared.project.settings.refundReporting != nil,
            // Extends the lease first, because the commit may have taken longer than the lease
            // lasts.
            try obtain(leases.keep(lease, until: leaseEnd))
        else { return nil }
        do throws(StoreTrouble) {
            _ = try intake.ask(
                .consumption(content, of: request.transaction), app, request.environment)
        } catch {
            guard case .refused = error else { return rest(app, after: error) }
            let end = RefundReportStep.finish(.unreported(.refused), detail: error.withRemedy)
            return try perform(end, on: request, heldIn: stream).unreported
                .map { .unreported($0) }
        }
        waits.withLock { $0[app] = nil }
        _ = try perform(.finish(.reported, detail: nil), on: request, heldIn: stream)
        return .reported
    }

    /// Pauses the reports for an app, and reports the trouble if it differs from the last reported trouble.
    private func rest(_ app: StoreApp, after trouble: StoreTrouble) -> RefundReportNews.Outcome? {
        var pause = RefundReports.pause
        if case .limited(let until) = trouble {
            pause = max(pause, until.milliseconds - intake.machineClock().milliseconds)
        }
        let now = intake.now()
        let wait = Wait(
            since: now, until: now.advanced(byMilliseconds: pause), obstacle: trouble.withRemedy)
        let former = waits.withLock { $0.updateValue(wait, forKey: app) }
        return former?.obstacle == wait.obstacle ? nil : .waits(trouble)
    }

    private func perform(
        _ step: RefundReportStep, on request: RefundFact, heldIn stream: Stream
    ) throws(CommandError) -> Outcome {
        let sender = Sender(actor: .refundReports, idempotencyKey: nil)
        return try intake.ledger.append(
            .reporting(
                on: request, heldIn: stream, step, actor: sender.actor,
                cause: intake.secrets.cause(of: sender, "report_refund", [request.id.text])))
    }
}

extension Actor {
    fileprivate static let refundReports = Actor(prefix: "deed:", random: "refunds")
}

extension Outcome {
    fileprivate var unreported: RefundUnreported? {
        for recorded in events {
            if case .refundUnreported(let event) = recorded.event { return event }
        }
        return nil
    }
}
