import Core
import JSON

/// An event as the log keeps it: the name of its type and its payload.
struct CodedEvent {
    let type: String
    let payload: JSON

    init(_ event: Event) {
        switch event {
        case .projectCreated(let event):
            type = "project.created"
            payload = ["project": .string(event.project.text)]
        case .keyCreated(let event):
            type = "key.created"
            payload = [
                "key": .string(event.key.text), "role": .string(event.role.rawValue),
                "name": .string(event.name), "digest": .string(event.digest),
            ]
        case .keyRevoked(let event):
            type = "key.revoked"
            payload = [
                "key": .string(event.key.text), "digest": .string(event.digest),
                "at": .string(event.at.text),
            ]
        case .grantGiven(let event):
            type = "grant.given"
            payload = [
                "grant": .string(event.grant.text),
                "entitlement": .string(event.entitlement.text),
                "start": .string(event.start.text), "end": .optional(event.end?.text),
                "reason": .string(event.reason.text), "ticket": .optional(event.ticket?.text),
            ]
        case .grantRevoked(let event):
            type = "grant.revoked"
            payload = [
                "grant": .string(event.grant.text),
                "entitlement": .string(event.entitlement.text), "at": .string(event.at.text),
                "reason": .string(event.reason.text), "ticket": .optional(event.ticket?.text),
            ]
        default:
            preconditionFailure("no command of this release makes \(event.typeName)")
        }
    }
}

extension Event {
    /// Reads an event of the log back, of this or any earlier release.
    init(type: String, payload: String) throws(LedgerError) {
        do {
            let payload = Payload(try JSON.read(payload))
            switch type {
            case "project.created":
                self = .projectCreated(ProjectCreated(project: try payload.id("project")))
            case "key.created": self = .keyCreated(try payload.keyCreated())
            case "key.revoked":
                self = .keyRevoked(
                    KeyRevoked(
                        key: try payload.id("key"), digest: try payload.text("digest"),
                        at: try payload.instant("at")))
            case "grant.given": self = .grantGiven(try payload.grantGiven())
            case "grant.revoked":
                self = .grantRevoked(
                    GrantRevoked(
                        grant: try payload.id("grant"),
                        entitlement: try payload.id("entitlement"),
                        at: try payload.instant("at"), reason: try payload.id("reason"),
                        ticket: try payload.optionalID("ticket")))
            default: throw LedgerError.unreadable("events of type \(type) are not known")
            }
        } catch let error as LedgerError {
            throw error
        } catch {
            throw .unreadable("a payload of type \(type): \(error)")
        }
    }
}

/// The members of a payload, each read as what it must be.
private struct Payload {
    private let json: JSON

    init(_ json: JSON) {
        self.json = json
    }

    func text(_ name: String) throws -> String {
        guard let text = json[name]?.string else { throw Missing(name: name) }
        return text
    }

    func id<Kind>(_ name: String) throws -> Identifier<Kind> {
        try Identifier(try text(name))
    }

    func optionalID<Kind>(_ name: String) throws -> Identifier<Kind>? {
        json[name]?.isNull ?? true ? nil : try id(name)
    }

    func instant(_ name: String) throws -> Instant {
        guard let instant = Instant(text: try text(name)) else { throw Missing(name: name) }
        return instant
    }

    func optionalInstant(_ name: String) throws -> Instant? {
        json[name]?.isNull ?? true ? nil : try instant(name)
    }

    func keyCreated() throws -> KeyCreated {
        guard let role = Role(rawValue: try text("role")) else { throw Missing(name: "role") }
        return KeyCreated(
            key: try id("key"), role: role, name: try text("name"), digest: try text("digest"))
    }

    func grantGiven() throws -> GrantGiven {
        GrantGiven(
            grant: try id("grant"), entitlement: try id("entitlement"),
            start: try instant("start"), end: try optionalInstant("end"),
            reason: try id("reason"), ticket: try optionalID("ticket"))
    }

    struct Missing: Error, CustomStringConvertible {
        let name: String
        var description: String { "the member \(name) is missing or of the wrong type" }
    }
}
