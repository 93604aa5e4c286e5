package import Core
import Postgres
import SQL

extension Ledger {
    /// A project's figures in one environment at an instant, with up to `limit` items in each list. They are computed
    /// from rows, which are derived from the log.
    package func figures(
        of project: ProjectID, _ environment: Environment, at now: Instant, limit: Int
    ) throws(Fault) -> ProjectFigures {
        let place: [Bind] = [.text(project.text), .text(environment.rawValue)]
        let (earlier, later) = (
            now.advanced(byMilliseconds: -ProjectFigures.week),
            now.advanced(byMilliseconds: ProjectFigures.week)
        )
        let two: [Bind] = [.int8(now.milliseconds), .int8(earlier.milliseconds)]
        let entitlements = try active(
            Call(statement: .countActiveEntitlements, binds: place + two))
        let products = try active(Call(statement: .countActiveProducts, binds: place + two))
        let soon: [Bind] = [
            .int8(now.milliseconds), .int8(later.milliseconds), .int8(Int64(limit)),
        ]
        let ending = try list(Call(statement: .listEndingAccess, binds: place + soon)) {
            rows, row in
            let item = ProjectFigures.Ending(
                customer: rows.text(row, 0), entitlement: rows.text(row, 1),
                ends: Instant(milliseconds: rows.int8(row, 2)))
            return (item: item, count: rows.int8(row, 3))
        }
        let past: [Bind] = [
            .int8(earlier.milliseconds), .int8(now.milliseconds), .int8(Int64(limit)),
        ]
        let refunds = try list(Call(statement: .listLateRefunds, binds: place + past)) {
            rows, row in
            let customer = rows.text(row, 0)
            let item = ProjectFigures.Refunded(
                customer: customer.hasPrefix("$") ? nil : customer, product: rows.text(row, 1),
                purchase: rows.text(row, 2), transaction: rows.text(row, 3), at: rows.text(row, 4))
            return (item: item, count: rows.int8(row, 5))
        }
        let unclaimed = try list(Call(statement: .countEnvironmentUnclaimed, binds: place)) {
            rows, row in rows.int8(row, 0)
        }
        return ProjectFigures(
            at: now, entitlements: entitlements, products: products,
            ending: .init(count: ending.first?.count ?? 0, items: ending.map(\.item)),
            refunds: .init(count: refunds.first?.count ?? 0, items: refunds.map(\.item)),
            unclaimed: unclaimed.first ?? 0)
    }

    /// For each item, the number of customers who have it at either of the two instants.
    private func active(_ call: Call) throws(Fault) -> [ProjectFigures.Active] {
        try list(call) { rows, row in
            ProjectFigures.Active(
                name: rows.text(row, 0), now: rows.int8(row, 1), earlier: rows.int8(row, 2))
        }.filter { $0.now > 0 || $0.earlier > 0 }
    }
}
