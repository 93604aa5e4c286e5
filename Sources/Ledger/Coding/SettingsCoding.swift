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

extension ProjectSettings: PayloadCodable {
    var payload: JSON {
        .members([
            "transfer": .string(transfer.rawValue), "restore": .text(restore?.rawValue),
            "cool_down": .string(coolDown.text), "order_lifetime": .string(orderLifetime.text),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            transfer: try payload.word("transfer"), restore: try payload.optionalWord("restore"),
            coolDown: try payload.duration("cool_down"),
            orderLifetime: try payload.duration("order_lifetime"))
    }
}
