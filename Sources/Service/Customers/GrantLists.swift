package import Core

/// A customer's grant, according to the customer's events.
package struct ListedGrant: Sendable {
    package let customer: CustomerID
    package let grant: Grant
    package let bounds: GrantBounds
    package let isActive: Bool
}

/// Some of a project's grants, newest first.
package struct GrantListAnswer: Sendable {
    package let project: ProjectID
    package let environment: Environment
    /// The instant for which the list says whether each grant is active.
    package let at: Instant
    package let grants: [ListedGrant]
    /// How many customers with matching grants have unreadable events.
    package let unread: Int
    /// Where the next page starts; `nil` if this is the last page.
    package let next: GrantPlace?
    /// The names of the keys with which the grants were given.
    package let actorNames: [Actor: String]
}

/// Lists the grants of a project, with their customers.
package struct GrantLists: Sendable {
    let ledger: any EventLog
    let listing: any GrantListing
    let reading: any CustomerReading
    let now: @Sendable () -> Instant

    /// Returns up to `limit` matching grants. The grants are found through table rows, and their
    /// details come from the customers' events.
    package func list(
        of project: ProjectID, in environment: Environment, _ filter: GrantFilter,
        after last: GrantPlace?, limit: Int
    ) throws(CommandError) -> GrantListAnswer {
        let owner = try ledger.existing(project)
        let catalog = owner.catalog
        let found = try obtain(
            listing.grants(of: project, environment, filter, after: last, limit: limit + 1))
        let leads = found.leads.prefix(limit)
        let at = filter.activeAt ?? now()
        var states: [CustomerID: CustomerState] = [:]
        let customers = Array(Set(leads.map(\.customer)))
        let streams = customers.map {
            Stream(project: project, environment: environment, customer: $0)
        }
        let snapshots = try obtain(streams.isEmpty ? [] : reading.customers(streams))
        for (customer, snapshot) in zip(customers, snapshots) {
            states[customer] = try? snapshot.get().customer
        }
        let grants = leads.compactMap { lead -> ListedGrant? in
            guard let state = states[lead.customer],
                let (grant, bounds) = state.boundedGrant(lead.place.grant, by: catalog)
            else { return nil }
            return ListedGrant(
                customer: lead.customer, grant: grant, bounds: bounds,
                isActive: grant.isActive(at: at, within: bounds))
        }
        return GrantListAnswer(
            project: project, environment: environment, at: at,
            grants: filter.activeAt == nil ? grants : grants.filter(\.isActive),
            unread: customers.count - states.count,
            next: found.leads.count > limit ? leads.last?.place : found.lookedUntil,
            actorNames: owner.names(of: grants.compactMap(\.grant.givenBy)))
    }
}
