import Core
import JSON
import Ledger
import Telemetry
import Threading

/// Projects customers anew when their project's catalog has changed, whoever changed it.
final class Projector: Sendable {
    private static let pause: Int64 = 1000

    private let isStopping = Monitor(false)
    private let ledger: Ledger
    private let log: Log

    init(_ ledger: Ledger, log: Log) {
        self.ledger = ledger
        self.log = log
    }

    func start() {
        startThread("projector", .patient) { [self] in
            while isStopping.wait(milliseconds: Projector.pause, for: { $0 ? () : nil }) == nil {
                project()
            }
        }
    }

    func stop() {
        isStopping.change { $0 = true }
    }

    private func project() {
        do throws(Fault) {
            let customers = try ledger.reproject()
            if customers > 0 { log.info("projected_anew", ["customers": .integer(customers)]) }
        } catch {
            // What was left is taken up by the next look; an unreachable database is told elsewhere.
            guard case .broken(let reason) = error else { return }
            log.error("not_projected", ["reason": .string(reason)])
        }
    }
}
