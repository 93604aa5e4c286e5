/// Limits on the grants that support staff may give.
package struct SupportLimits: Hashable, Sendable {
    /// The name that stands for all entitlements without a separate limit.
    package static let others = "*"
    /// The maximum number of limits in one project.
    package static let countLimit = 1000

    /// The maximum duration of a grant, by entitlement. Support staff may not grant an entitlement
    /// if neither it nor `others` is listed.
    package var durations: [EntitlementID: CalendarDuration]

    package init(_ durations: [EntitlementID: CalendarDuration] = [:]) {
        self.durations = durations
    }

    package subscript(entitlement: EntitlementID) -> CalendarDuration? {
        durations[entitlement] ?? durations.first { $0.key.isOthers }?.value
    }
}

extension EntitlementID {
    /// Whether this name stands for all entitlements without a separate limit.
    package var isOthers: Bool { text == SupportLimits.others }
}

/// Why support staff are not allowed to do something.
package enum SupportRefusal: Worded, Hashable, Sendable {
    /// The duration is `nil` if support staff may not grant the entitlement at all.
    case beyondLimit(EntitlementID, CalendarDuration?, until: Instant?)
    case tooManyLimits(limit: Int)

    package var wording: RefusalWording {
        switch self {
        case .beyondLimit(let entitlement, nil, _):
            .forbidden(
                "support_limit",
                "The project does not let support keys give, change or revoke grants of \"\(entitlement)\".",
                .allowSupportGrants(entitlement))
        case .beyondLimit(let entitlement, let limit?, let end):
            .forbidden(
                "support_limit",
                "A support key may go as far as \(limit.text) with grants of \"\(entitlement)\""
                    + (end.map { ", now until \($0.text)" } ?? "")
                    + ". Waiting grants count one after the other behind the running ones, and support may not "
                    + "touch a grant that goes further by itself. Stay within the limit, or use an admin's key."
            )
        case .tooManyLimits(let limit):
            .improper(
                "too_many_support_limits",
                "At most \(limit) entitlements may have a support limit; remove one first.")
        }
    }
}
