import Core
import Postgres

extension ProjectedRows {
    /// Every row that follows from a customer's events.
    static func all(
        of customer: CustomerState, _ stream: Stream, by project: ProjectState
    ) -> [Call] {
        var rows = ProjectedRows()
        rows.addAll(customer, of: stream, by: project)
        rows.addNamed(customer, of: stream)
        return rows.calls + Holders.rows(of: customer, stream)
    }

    /// Every row that follows from a project's own events.
    static func all(of project: ProjectID, _ state: ProjectState) -> [Call] {
        var rows = ProjectedRows()
        rows.addAll(state, of: project)
        return rows.calls
    }
}

extension Holders {
    /// What says that the customer holds what its events name.
    static func rows(of customer: CustomerState, _ stream: Stream) -> [Call] {
        var holders = Holders(asking: [])
        for purchase in customer.purchases {
            for app in purchase.allApps {
                let held = HeldPurchase(app: app, purchase: purchase.id)
                holders.claim(HolderKey(held, in: stream), by: stream.customer)
            }
        }
        return holders.calls
    }
}
