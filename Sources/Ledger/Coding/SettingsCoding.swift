import Core
import JSON

extension App: PayloadCodable {
    private enum Access: String {
        case none, listed, all
    }

    var payload: JSON {
        .members([
            "store": .string(key.store.rawValue), "app": .id(key.id), "apple_id": .number(appleID),
            "sandbox_access": .string(access.rawValue), "sandbox_customers": listed,
            "receipts": .string(receipts.rawValue),
        ])
    }

    private var access: Access {
        switch sandboxAccess {
        case .none: .none
        case .listed: .listed
        case .all: .all
        }
    }

    private var listed: JSON? {
        guard case .listed(let customers) = sandboxAccess else { return nil }
        return .ids(customers.sorted())
    }

    init(_ payload: Payload) throws {
        let access: SandboxAccess =
            switch try payload.word("sandbox_access") as Access {
            case .none: .none
            case .listed: .listed(Set(try payload.ids("sandbox_customers")))
            case .all: .all
            }
        self.init(
            try AppKey(payload), appleID: try payload.optionalInteger("apple_id"),
            sandboxAccess: access, receipts: try payload.word("receipts"))
    }
}

extension AppKey {
    fileprivate init(_ payload: Payload) throws {
        self.init(store: try payload.word("store"), id: try payload.id("app"))
    }
}

extension AppRemoved: PayloadCodable {
    var payload: JSON { .members(["store": .string(key.store.rawValue), "app": .id(key.id)]) }

    init(_ payload: Payload) throws {
        self.init(key: try AppKey(payload))
    }
}

extension AppAllowance: PayloadCodable {
    /// If no app is named, all apps in every store are allowed.
    var payload: JSON {
        switch self {
        case .any: ["any": true]
        case .app(let key): .members(["store": .string(key.store.rawValue), "app": .id(key.id)])
        }
    }

    init(_ payload: Payload) throws {
        self = try payload.flag("any") ? .any : .app(try AppKey(payload))
    }
}

extension Webhook: PayloadCodable {
    var payload: JSON {
        .members([
            "webhook": .id(id), "environment": .string(environment.rawValue),
            "url": .string(url.text), "types": .array(types.map(JSON.string)),
            "format": .string(format.rawValue), "concurrency": .number(concurrency),
            "rate": .number(rate), "description": .text(description),
            "headers": headers.isEmpty ? nil : .array(headers.map(JSON.string)),
            "paused": .flag(isPaused), "key": .number(key),
            "resumptions": resumptions == 0 ? nil : .number(resumptions),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            try payload.id("webhook"), try payload.word("environment"),
            url: WebhookURL(recorded: try payload.text("url")), types: try payload.texts("types"),
            format: try payload.word("format"), concurrency: try payload.integer("concurrency"),
            rate: try payload.optionalInteger("rate"),
            description: try payload.optionalText("description"),
            headers: try payload.texts("headers"))
        isPaused = try payload.flag("paused")
        key = try payload.integer("key")
        resumptions = try payload.optionalInteger("resumptions") ?? 0
    }
}

extension WebhookRemoved: PayloadCodable {
    var payload: JSON { ["webhook": .string(webhook.text)] }

    init(_ payload: Payload) throws {
        self.init(webhook: try payload.id("webhook"))
    }
}

extension ProjectSettings: PayloadCodable {
    var payload: JSON {
        .members([
            "transfer": .string(transfer.rawValue), "restore": .text(restore?.rawValue),
            "cool_down": .string(coolDown.text), "order_lifetime": .string(orderLifetime.text),
            "credit_limits": creditLimits.isEmpty ? nil : .limits(creditLimits),
            "refund_reports": refundReporting?.payload, "customers_per_account": perAccount,
            "support_limits": supportLimits.durations.isEmpty ? nil : supportLimits.payload,
            "merge": merge == .staff ? nil : .string(merge.rawValue),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            transfer: try payload.word("transfer"), restore: try payload.optionalWord("restore"),
            coolDown: try payload.duration("cool_down"),
            orderLifetime: try payload.duration("order_lifetime"),
            creditLimits: try [CurrencyID: CreditLimit](payload),
            refundReporting: try payload.optionalPart("refund_reports"),
            customersPerAccount: try ProjectSettings.perAccount(payload),
            supportLimits: try payload.optionalPart("support_limits") ?? SupportLimits(),
            merge: try payload.optionalWord("merge") ?? .staff)
    }

    /// Omitted if the limit is 3, and null if there is no limit.
    private var perAccount: JSON? {
        if customersPerAccount == ProjectSettings.customersPerAccount { return nil }
        return customersPerAccount.map(JSON.integer) ?? .null
    }

    private static func perAccount(_ payload: Payload) throws -> Int64? {
        switch payload.value["customers_per_account"] {
        case nil: ProjectSettings.customersPerAccount
        case .null: nil
        default: try payload.integer("customers_per_account")
        }
    }
}

extension SupportLimits: PayloadCodable {
    var payload: JSON {
        .object(each: durations.sorted { $0.key < $1.key }) {
            ($0.key.text, .string($0.value.text))
        }
    }

    init(_ payload: Payload) throws {
        self.init()
        for member in payload.value.object?.members ?? [] {
            durations[try EntitlementID(member.name)] = try payload.duration(member.name)
        }
    }
}

extension RefundReporting: PayloadCodable {
    var payload: JSON {
        .members([
            "preference": .text(preference?.rawValue), "sample_provided": .flag(hasSample),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            preference: try payload.optionalWord("preference"),
            hasSample: try payload.flag("sample_provided"))
    }
}

extension JSON {
    fileprivate static func limits(_ limits: [CurrencyID: CreditLimit]) -> JSON {
        .object(each: limits.sorted { $0.key < $1.key }) { currency, limit in
            (
                currency.text,
                ["per_call": .integer(limit.perCall), "per_day": .integer(limit.perDay)]
            )
        }
    }
}

extension [CurrencyID: CreditLimit] {
    fileprivate init(_ payload: Payload) throws {
        self = [:]
        guard let json = payload.value["credit_limits"] else { return }
        guard let object = json.object else { throw Payload.Misfit(name: "credit_limits") }
        for member in object.members {
            let limit = Payload(member.value)
            self[try CurrencyID(member.name)] = CreditLimit(
                perCall: try limit.integer("per_call"), perDay: try limit.integer("per_day"))
        }
    }
}
