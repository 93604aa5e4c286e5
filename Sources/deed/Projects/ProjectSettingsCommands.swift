import API
import Commands
import Core
import Service

let showProjectCommand = CommandSpec(
    path: ["project", "show"], summary: "Shows a project's settings and its apps.",
    options: [.project] + Option.database, onlyReads: true,
    example: "deed project show --project default"
) { invocation throws(CommandEnd) in
    let project = try invocation.project()
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let answer = try obey(useCases.projects.settings(of: project))
        let apps = answer.apps.map(\.key.id.text).joined(separator: ", ")
        invocation.show(
            answer.json,
            text: answer.settings.text(of: project)
                + "\napps             \(apps.isEmpty ? "none" : apps)"
                + "\nallowed apps     \(answer.allowances.words)")
    }
}

let setProjectCommand = CommandSpec(
    path: ["project", "set"], summary: "Changes a project's settings.",
    options: [
        .value(
            "transfer", "RULE",
            "when another customer submits a held purchase: keep, transfer_if_inactive or transfer"),
        .value(
            "restore", "RULE",
            "the same when another customer restores a purchase, or \"as-transfer\""),
        .value("cool-down", "DURATION", "how long before a moved purchase can move again: P1D"),
        .value("order-lifetime", "DURATION", "how long an order waits for its purchase: P7D"),
        .value(
            "credit-limit", "LIMITS",
            "what back ends may add to a customer per call and per day: coins=100/1000,gems=none"),
        .value(
            "support-limit", "LIMITS",
            "how long support keys may grant each entitlement, * for all others: pro=P30D,*=P7D,gold=none"
        ),
        .value(
            "refund-reports", "WORD",
            "report purchases to the store when a refund is requested: consented (every customer "
                + "has agreed to that) or off"),
        .value(
            "refund-preference", "WORD",
            "the outcome you prefer: decline, grant_full or grant_prorated"),
        .flag("refund-sample", "customers could try the product before buying it"),
        .value(
            "customers-per-account", "NUMBER",
            "how many customers may submit one store account's app transaction: 3, or none for "
                + "no limit"),
        .value(
            "merge", "WHO",
            "who may merge two customers: staff; or backend (back ends may if neither customer has "
                + "purchases from another account)"),
        .allowUnknown, .idempotencyKey, .project,
    ] + Option.database,
    example: "deed project set --transfer keep --restore transfer_if_inactive --cool-down P1D"
) { invocation throws(CommandEnd) in
    let change = try invocation.settingsChange()
    let project = try invocation.project()
    let sender = try invocation.sender()
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let settings = try useCases.fulfil(
            useCases.projects.changing(
                change, of: project, by: sender,
                allowingUnknown: invocation.has("allow-unknown")))
        invocation.show(settings.json(of: project), text: settings.text(of: project))
    }
}

extension Invocation {
    fileprivate func settingsChange() throws(CommandEnd) -> SettingsChange {
        var change = SettingsChange()
        change.transfer = try word("transfer")
        if self["restore"] == "as-transfer" {
            change.restore = .some(nil)
        } else if let rule: TransferPolicy.Rule = try word("restore") {
            change.restore = rule
        }
        change.merge = try word("merge")
        change.coolDown = try duration("cool-down")
        change.orderLifetime = try duration("order-lifetime")
        change.creditLimits = try creditLimits()
        change.supportLimits = try supportLimits()
        change.refundReporting = try refundReporting()
        if self["customers-per-account"] == "none" {
            change.customersPerAccount = .some(nil)
        } else if let number = try integer("customers-per-account", in: Invocation.accountLimits) {
            change.customersPerAccount = .some(Int64(number))
        }
        if change == SettingsChange() {
            throw usage("there is nothing to change; give at least one flag")
        }
        return change
    }
}

extension Invocation {
    private static let accountLimits =
        Int(
            ProjectSettings.accountLimits.lowerBound)...Int(
            ProjectSettings.accountLimits.upperBound)

    private enum Reports: String, CaseIterable {
        case consented, off
    }

    fileprivate func refundReporting() throws(CommandEnd) -> RefundReporting?? {
        let reports: Reports? = try word("refund-reports")
        let preference: RefundPreference? = try word("refund-preference")
        if reports != .consented, preference != nil || has("refund-sample") {
            throw usage(
                "--refund-preference and --refund-sample need --refund-reports consented")
        }
        return switch reports {
        case nil: nil
        case .off: .some(nil)
        case .consented:
            RefundReporting(preference: preference, hasSample: has("refund-sample"))
        }
    }

    /// Parses a list like `coins=100/1000,gems=none`.
    fileprivate func creditLimits() throws(CommandEnd) -> [CurrencyID: CreditLimit?] {
        var limits: [CurrencyID: CreditLimit?] = [:]
        for part in self["credit-limit"]?.split(separator: ",") ?? [] {
            let sides = part.split(separator: "=", omittingEmptySubsequences: false)
            guard sides.count == 2 else { throw badCreditLimit }
            let currency: CurrencyID = try id(String(sides[0]), named: "the currency")
            limits[currency] = .some(sides[1] == "none" ? nil : try creditLimit(sides[1]))
        }
        return limits
    }

    /// Parses a list like `pro=P30D,*=P7D,gold=none`.
    fileprivate func supportLimits() throws(CommandEnd) -> [EntitlementID: CalendarDuration?] {
        var limits: [EntitlementID: CalendarDuration?] = [:]
        for part in self["support-limit"]?.split(separator: ",") ?? [] {
            let sides = part.split(separator: "=", omittingEmptySubsequences: false)
            let limit = sides.count == 2 ? CalendarDuration(String(sides[1])) : nil
            guard sides.count == 2, limit != nil || sides[1] == "none" else {
                throw usage(
                    "--support-limit takes entitlements like pro=P30D, *=P7D or pro=none, each duration "
                        + "longer than zero")
            }
            let entitlement: EntitlementID = try id(String(sides[0]), named: "the entitlement")
            limits[entitlement] = .some(limit)
        }
        return limits
    }

    private func creditLimit(_ text: Substring) throws(CommandEnd) -> CreditLimit {
        let amounts = text.split(separator: "/", omittingEmptySubsequences: false).map {
            Int64($0)
        }
        guard amounts.count == 2, let perCall = amounts[0], let perDay = amounts[1],
            CreditLimit.range.contains(perCall), CreditLimit.range.contains(perDay)
        else { throw badCreditLimit }
        if perCall > perDay {
            throw usage(
                "--credit-limit \(text) allows more per call than per day; write the smaller amount first"
            )
        }
        return CreditLimit(perCall: perCall, perDay: perDay)
    }

    private var badCreditLimit: CommandEnd {
        usage(
            "--credit-limit takes currencies like coins=100/1000 or coins=none, each amount from 1 to "
                + "\(Balances.limit)")
    }
}

extension ProjectSettings {
    /// The maximum amounts that back ends may add per call and per day.
    private var limits: String {
        creditLimits.sorted { $0.key < $1.key }
            .map { "\($0)=\($1.perCall)/\($1.perDay)" }.joined(separator: ", ")
    }

    private var support: String {
        supportLimits.durations.sorted { $0.key < $1.key }
            .map { "\($0)=\($1.text)" }.joined(separator: ", ")
    }

    private var reports: String {
        guard let refundReporting else { return "off" }
        let preference = refundReporting.preference.map { "prefers \($0.rawValue)" }
        let sample = refundReporting.hasSample ? "with a sample" : nil
        return (["consented", preference, sample].compactMap(\.self)).joined(separator: ", ")
    }

    private var perAccount: String {
        customersPerAccount.map { $0 == 1 ? "1 customer" : "\($0) customers" }
            ?? "any number of customers"
    }

    fileprivate func text(of project: ProjectID) -> String {
        """
        project          \(project)
        transfer         \(transfer.rawValue)
        restore          \(restore?.rawValue ?? "as transfer")
        cool-down        \(coolDown.text)
        order lifetime   \(orderLifetime.text)
        credit limits    \(limits.isEmpty ? "none" : limits)
        support limits   \(support.isEmpty ? "none" : support)
        refund reports   \(reports)
        per account      \(perAccount)
        merge            \(merge.rawValue)
        """
    }
}
