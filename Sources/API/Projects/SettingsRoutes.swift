import Core
import HTTPServer
import JSON
import Service

/// Calls about a project's settings and apps.
struct SettingsRoutes: Sendable {
    let projects: Projects
    let apps: Apps
    let ring: AppRing
    let stores: [any StoreProfile]

    /// The parameters of calls about an app. With several stores, a call may name one.
    private var appParameters: [String] { stores.count > 1 ? ["store"] : [] }

    var routes: [Route] {
        [
            Route("GET", "/settings", .administer, .database, settings),
            Route("PATCH", "/settings", .administer, .memory, changeSettings),
            Route(
                "PUT", "/apps/{bundle}", parameters: appParameters,
                bodyLimit: SettingsRoutes.appBodyLimit, .administer, .database, setApp),
            Route(
                "DELETE", "/apps/{bundle}", parameters: appParameters, .administer, .database,
                removeApp),
        ]
    }

    /// The size limit for an app: the largest list of customers with ids of maximum length.
    private static let appBodyLimit = 1 << 20

    private func settings(_ call: Call) throws(Problem) -> Response {
        .json(
            try obey(projects.settings(of: call.access.project)).json)
    }

    private func changeSettings(_ call: Call) throws(Problem) -> Wish<Response> {
        let project = call.access.project
        let body = try Body(
            call.body,
            of: [
                "transfer", "restore", "cool_down", "order_lifetime", "credit_limits",
                "refund_reports", "customers_per_account", "support_limits", "merge",
                Body.allowUnknown,
            ])
        let change = try body.settingsChange()
        return projects.changing(
            change, of: project, by: call.sender,
            allowingUnknown: try body.flag(Body.allowUnknown)
        ).response { .json($0.json(of: project)) }
    }

    private func setApp(_ call: Call) throws(Problem) -> Wish<Response> {
        let store = try store(of: call)
        let app = try call.app(in: store)
        let body = try Body(
            call.body,
            of: ["sandbox_access", "sandbox_customers", "credentials"]
                + (store.store == .unnamed ? ["apple_id", "receipts"] : []))
        let change = try body.app()
        let credentials = try body.credentials(store.credentials)
        return known(
            apps.setting(
                app, change, credentials, of: call.access.project, as: .key, by: call.sender))
    }

    private func removeApp(_ call: Call) throws(Problem) -> Wish<Response> {
        let app = try call.app(in: store(of: call))
        return known(apps.removing(app, of: call.access.project, by: call.sender))
    }

    private func store(of call: Call) throws(Problem) -> any StoreProfile {
        let name = call.query["store"] ?? Store.unnamed.rawValue
        guard let store = stores.first(where: { $0.store.rawValue == name }) else {
            throw .invalid("store", "Deed does not know the store \"\(name)\".")
        }
        return store
    }

    /// Returns the change. This instance loads it into memory before it answers the call.
    private func known(_ change: Wish<AppAnswer>) -> Wish<Response> {
        change.thenLooking { [ring] answer in
            ring.learnChange()
            return answer
        }.response { .json($0.json) }
    }
}

extension Call {
    fileprivate func app(in profile: any StoreProfile) throws(Problem) -> AppKey {
        AppKey(store: profile.store, id: try AppID(member: "bundle", arguments[0]))
    }
}

extension Body {
    /// Returns the change in the body. Missing members leave their settings unchanged.
    fileprivate func settingsChange() throws(Problem) -> SettingsChange {
        var change = SettingsChange()
        change.transfer = try optionalWord("transfer")
        if holds("restore") { change.restore = .some(try optionalWord("restore")) }
        change.merge = try optionalWord("merge")
        change.coolDown = try optionalDuration("cool_down")
        change.orderLifetime = try optionalDuration("order_lifetime")
        for member in try optionalObject("credit_limits")?.members ?? [] {
            let path = "credit_limits.\(member.name)"
            let currency = try CurrencyID(member: path, member.name)
            change.creditLimits[currency] = .some(
                try Body(member: path, member.value, of: ["per_call", "per_day"])?.creditLimit())
        }
        for member in try optionalObject("support_limits")?.members ?? [] {
            let path = "support_limits.\(member.name)"
            let entitlement = try EntitlementID(member: path, member.name)
            change.supportLimits[entitlement] = .some(try supportLimit(path, member.value))
        }
        if holds("refund_reports") {
            change.refundReporting = .some(try refundReporting())
        }
        if holds("customers_per_account") {
            change.customersPerAccount = .some(
                try optionalInteger("customers_per_account", in: ProjectSettings.accountLimits))
        }
        return change
    }

    private func refundReporting() throws(Problem) -> RefundReporting? {
        guard let members = try optionalObject("refund_reports"),
            let body = try Body(
                member: "refund_reports", .object(members),
                of: ["customers_consented", "preference", "sample_provided"])
        else { return nil }
        if try !body.flag("customers_consented") {
            throw .invalid(
                "customers_consented",
                "Deed reports to the store only purchases of customers who agreed to that: send true "
                    + "if all customers have agreed, or null as \"refund_reports\".")
        }
        return RefundReporting(
            preference: try body.optionalWord("preference"),
            hasSample: try body.flag("sample_provided"))
    }

    private func supportLimit(
        _ path: String, _ value: JSON
    ) throws(Problem) -> CalendarDuration? {
        if value.isNull { return nil }
        guard let limit = value.string.flatMap({ CalendarDuration($0) }) else {
            throw .invalid(
                path,
                "\"\(path)\" must be an ISO 8601 duration longer than zero, like \"P30D\", or null."
            )
        }
        return limit
    }

    private func creditLimit() throws(Problem) -> CreditLimit {
        guard let perCall = try optionalInteger("per_call", in: CreditLimit.range) else {
            throw .missing("per_call")
        }
        guard let perDay = try optionalInteger("per_day", in: CreditLimit.range) else {
            throw .missing("per_day")
        }
        if perCall > perDay {
            throw .invalid(
                "per_call",
                "\"per_call\" is \(perCall) and exceeds \"per_day\", which is \(perDay); send at most \(perDay)."
            )
        }
        return CreditLimit(perCall: perCall, perDay: perDay)
    }

    /// Returns the complete app. Missing members get the defaults for a new app.
    fileprivate func app() throws(Problem) -> AppChange {
        AppChange(
            appleID: .some(try optionalInteger("apple_id", in: App.appleIDs)),
            sandboxAccess: try sandboxAccess(), receipts: try optionalWord("receipts") ?? .local)
    }

    /// Returns the credentials to change. Missing credentials stay unchanged, unlike an app's other members:
    /// credentials cannot be read, so a caller who reads an app and writes it back does not have them.
    fileprivate func credentials(
        _ members: [CredentialMember]
    ) throws(Problem) -> CredentialsChange {
        var change = CredentialsChange()
        if !holds("credentials") { return change }
        guard let object = try optionalObject("credentials") else {
            for member in members { change.secrets[member.name] = .some(nil) }
            return change
        }
        let body = try Body(
            member: "credentials", .object(object), of: members.map(\.name))
        guard let body else { return change }
        for member in members where member.part == .sharedSecret && body.holds(member.name) {
            change.secrets[member.name] = try body.optionalText(member.name)
        }
        let key = members.filter { $0.part == .key }
        var parts: [String: String?] = [:]
        for member in key { parts[member.name] = try body.optionalText(member.name) }
        if parts.values.allSatisfy({ $0 == nil }) {
            if !key.contains(where: { $0.isSecret && body.holds($0.name) }) { return change }
        } else if parts.values.contains(nil) {
            let names = key.map { "\"\($0.name)\"" }.joined(separator: ", ")
            throw .invalid("credentials", "\(names) belong together; send all of them or none.")
        }
        change.secrets.merge(parts) { _, part in part }
        return change
    }

    private func sandboxAccess() throws(Problem) -> SandboxAccess {
        let word = try optionalWord("sandbox_access") ?? SandboxAccess.Word.none
        let customers: [CustomerID]? = try optionalIDs("sandbox_customers")
        guard let access = SandboxAccess(word, customers) else {
            throw .invalid(
                "sandbox_customers",
                "\"sandbox_customers\" lists customers when \"sandbox_access\" is \"listed\", and "
                    + "only then.")
        }
        return access
    }
}
