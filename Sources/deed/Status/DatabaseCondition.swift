import Assembly
import Commands
import Core
import Ledger
import Telemetry

struct DatabaseCondition {
    let impediments: [Impediment]
    /// The numbers of queued items; `nil` if they were not read.
    let queue: IntakeCounts?

    init(of database: Database) throws(CommandEnd) {
        let ledger = Ledger(
            database.modestSettings(clock: systemClock), log: .silent, metrics: Metrics())
        defer { ledger.close() }
        do throws(Fault) {
            _ = try ledger.look()
            queue = try ledger.intakeCounts()
            impediments = ledger.impediments
        } catch {
            guard case .impeded(let impediment) = error else { throw CommandEnd(error) }
            queue = nil
            impediments = [impediment]
        }
    }
}
