package import Core
package import JSON
package import Service

extension SettingsAnswer {
    /// The answer to `GET /v1/settings`.
    package var json: JSON {
        [
            "project": .string(project.text), "settings": settings.json,
            "apps": .array(listedApps), "allowed_apps": allowances.json,
        ]
    }

    package var listedApps: [JSON] { apps.map { $0.json(credentials[$0.key]) } }
}

extension AppAllowances {
    /// Returns the output of `deed project allow-app`.
    package func json(of project: ProjectID) -> JSON {
        ["project": .string(project.text), "allowed_apps": json]
    }

    fileprivate var json: JSON {
        let others = apps.filter { $0.store != .unnamed }.map { app -> JSON in
            ["store": .string(app.store.rawValue), "id": .string(app.id.text)]
        }
        let answer: JSON = [
            "any": .bool(isAny),
            "bundle_ids": .array(apps.filter { $0.store == .unnamed }.map { .string($0.id.text) }),
        ]
        return answer.with("others", others.isEmpty ? nil : .array(others))
    }
}

extension ProjectSettings {
    /// Returns the answer to `PATCH /v1/settings`.
    package func json(of project: ProjectID) -> JSON {
        ["project": .string(project.text), "settings": json]
    }

    fileprivate var json: JSON {
        [
            "transfer": .string(transfer.rawValue), "restore": .optional(restore?.rawValue),
            "cool_down": .string(coolDown.text), "order_lifetime": .string(orderLifetime.text),
            "credit_limits": limits, "refund_reports": refundReporting?.json ?? .null,
            "customers_per_account": customersPerAccount.map(JSON.integer) ?? .null,
            "support_limits": supportLimits.json, "merge": .string(merge.rawValue),
        ]
    }
}

extension SupportLimits {
    fileprivate var json: JSON {
        .object(each: durations.sorted { $0.key < $1.key }) {
            ($0.key.text, .string($0.value.text))
        }
    }
}

extension RefundReporting {
    fileprivate var json: JSON {
        [
            "customers_consented": true, "preference": .optional(preference?.rawValue),
            "sample_provided": .bool(hasSample),
        ]
    }
}

extension ProjectSettings {
    fileprivate var limits: JSON {
        .object(each: creditLimits.sorted { $0.key < $1.key }) { currency, limit in
            (
                currency.text,
                ["per_call": .integer(limit.perCall), "per_day": .integer(limit.perDay)]
            )
        }
    }
}

extension AppAnswer {
    /// The answer to `PUT` and `DELETE /v1/apps/{bundle}`.
    package var json: JSON {
        let head: JSON = ["project": .string(project.text)]
        return head.with("app", app?.json(credentials))
            .with("removed", app == nil ? .string(key.id.text) : nil)
    }
}

extension App {
    fileprivate func json(_ credentials: CredentialsStatus?) -> JSON {
        [
            "store": .string(key.store.rawValue), "bundle_id": .string(key.id.text),
            "apple_id": appleID.map(JSON.integer) ?? .null,
            "sandbox_access": .string(sandboxAccess.word.rawValue),
            "sandbox_customers": .ids(sandboxAccess.customers),
            "receipts": .string(receipts.rawValue),
            "credentials": [
                "api_key": .bool(credentials?.hasKey ?? false),
                "shared_secret": .bool(credentials?.hasSharedSecret ?? false),
                "store_url": .optional(credentials?.address?.url),
            ],
        ]
    }
}

extension SandboxAccess {
    /// The kind of access, as a word in the API. A separate member lists the customers.
    package enum Word: String, CaseIterable, Sendable {
        case none, listed, all
    }

    /// Combines a word and a list; `nil` if the word needs a list and has none, or has a list that it does not use.
    package init?(_ word: Word, _ customers: [CustomerID]?) {
        let customers = customers ?? []
        switch word {
        case .none where customers.isEmpty: self = .none
        case .all where customers.isEmpty: self = .all
        case .listed where !customers.isEmpty: self = .listed(Set(customers))
        default: return nil
        }
    }

    package var word: Word {
        switch self {
        case .none: .none
        case .listed: .listed
        case .all: .all
        }
    }

    package var customers: [CustomerID] {
        if case .listed(let customers) = self { customers.sorted() } else { [] }
    }
}
