import Core
import JSON
package import Service
package import Telemetry
import Threading

extension Job {
    /// Erases data of erased customers that an interrupted instance has left behind.
    package static func emptying(_ erasures: any ErasureLog, log: Log) -> Job {
        Job("emptying", .everywhere(milliseconds: 2000), urgency: .patient) { run throws(Fault) in
            var fault: Fault?
            var customers = 0
            for stream in try erasures.unemptied(limit: 100) where run.goesOn {
                do throws(Fault) {
                    try erasures.empty(stream)
                    customers += 1
                } catch {
                    fault = error
                }
            }
            if customers > 0 { log.info("emptied", ["customers": .integer(customers)]) }
            if let fault { throw fault }
            return .asScheduled
        }
    }
}
