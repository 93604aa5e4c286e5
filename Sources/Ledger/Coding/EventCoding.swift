import Core
import JSON

extension Event {
    /// The event as the log stores it, without its type name. An emptied event has no payload.
    var payload: JSON { if case .erased = self { .null } else { read(by: PayloadReader()) } }

    /// Decodes an event from the log.
    init(type: String, format: Int16, payload: String) throws(LedgerError) {
        let written = LogFormat(Int(format))
        if !(LogFormat.first...LogFormat.own).contains(written) {
            throw .tooNew("an event of type \(type) in the format \(format)")
        }
        do {
            guard let known = EventType(named: type) else {
                _ = try JSON.read(payload)
                throw LedgerError.tooNew("an event of type \(type)")
            }
            // Only customers' events are ever emptied. Reads of the stream check that an erasure follows.
            if payload.isEmpty, known.mayBeEmptied {
                self = .erased(known)
                return
            }
            self = try known.coding.read(Payload(try JSON.read(payload)))
            if self.format != written {
                throw LedgerError.tooNew("an event of type \(type) in the format \(format)")
            }
        } catch let error as LedgerError {
            throw error
        } catch {
            throw .unreadable("a payload of type \(type): \(error)")
        }
    }
}

private struct PayloadReader: EventReader {
    func read(_ type: EventType, _ content: some EventContent) -> JSON {
        type.coding.payload(content)
    }
}

/// How the content of one event type is encoded.
private struct EventCoding: Sendable {
    let read: @Sendable (Payload) throws -> Event
    let payload: @Sendable (any EventContent) -> JSON

    init<Content: EventContent & PayloadCodable>(
        _ event: @escaping @Sendable (Content) -> Event
    ) {
        read = { event(try Content($0)) }
        payload = { content in
            guard let content = content as? Content else {
                preconditionFailure("\(type(of: content)) is kept as \(Content.self)")
            }
            return content.payload
        }
    }

    static let all = EventType.allCases.map(EventCoding.init(of:))

    private init(of type: EventType) {
        self =
            switch type {
            case .projectCreated: EventCoding(Event.projectCreated)
            case .keyCreated: EventCoding(Event.keyCreated)
            case .keyRevoked: EventCoding(Event.keyRevoked)
            case .keyRotated: EventCoding(Event.keyRotated)
            case .catalogChanged: EventCoding(Event.catalogChanged)
            case .appSet: EventCoding(Event.appSet)
            case .appRemoved: EventCoding(Event.appRemoved)
            case .appAllowed: EventCoding(Event.appAllowed)
            case .appDisallowed: EventCoding(Event.appDisallowed)
            case .projectChanged: EventCoding(Event.projectChanged)
            case .reconciliationStarted: EventCoding(Event.reconciliationStarted)
            case .reconciliationFinished: EventCoding(Event.reconciliationFinished)
            case .logAccepted: EventCoding(Event.logAccepted)
            case .webhookSet: EventCoding(Event.webhookSet)
            case .webhookRemoved: EventCoding(Event.webhookRemoved)
            case .purchaseMade: EventCoding(Event.purchaseMade)
            case .subscriptionRenewed: EventCoding(Event.subscriptionRenewed)
            case .subscriptionUpgraded: EventCoding(Event.subscriptionUpgraded)
            case .subscriptionExtended: EventCoding(Event.subscriptionExtended)
            case .purchaseRefunded: EventCoding(Event.purchaseRefunded)
            case .purchaseRevoked: EventCoding(Event.purchaseRevoked)
            case .refundReversed: EventCoding(Event.refundReversed)
            case .purchaseRestated: EventCoding(Event.purchaseRestated)
            case .renewalChanged: EventCoding(Event.renewalChanged)
            case .renewalRestated: EventCoding(Event.renewalRestated)
            case .appInstalled: EventCoding(Event.appInstalled)
            case .refundRequested: EventCoding(Event.refundRequested)
            case .refundDeclined: EventCoding(Event.refundDeclined)
            case .consentRescinded: EventCoding(Event.consentRescinded)
            case .accountJoined: EventCoding(Event.accountJoined)
            case .refundReportPrepared: EventCoding(Event.refundReportPrepared)
            case .refundReported: EventCoding(Event.refundReported)
            case .refundUnreported: EventCoding(Event.refundUnreported)
            case .purchaseAttached: EventCoding(Event.purchaseAttached)
            case .purchaseDetached: EventCoding(Event.purchaseDetached)
            case .purchaseBlocked: EventCoding(Event.purchaseBlocked)
            case .purchaseUnblocked: EventCoding(Event.purchaseUnblocked)
            case .grantGiven: EventCoding(Event.grantGiven)
            case .grantChanged: EventCoding(Event.grantChanged)
            case .grantRevoked: EventCoding(Event.grantRevoked)
            case .noteAdded: EventCoding(Event.noteAdded)
            case .noteRemoved: EventCoding(Event.noteRemoved)
            case .balanceCredited: EventCoding(Event.balanceCredited)
            case .balanceDebited: EventCoding(Event.balanceDebited)
            case .balanceSpent: EventCoding(Event.balanceSpent)
            case .balanceAdjusted: EventCoding(Event.balanceAdjusted)
            case .orderOpened: EventCoding(Event.orderOpened)
            case .orderFulfilled: EventCoding(Event.orderFulfilled)
            case .orderClosed: EventCoding(Event.orderClosed)
            case .tokenRegistered: EventCoding(Event.tokenRegistered)
            case .accessStarted: EventCoding(Event.accessStarted)
            case .accessEnded: EventCoding(Event.accessEnded)
            case .accessEndingSoon: EventCoding(Event.accessEndingSoon)
            case .customerMerged: EventCoding(Event.customerMerged)
            case .customerJoined: EventCoding(Event.customerJoined)
            case .customerParted: EventCoding(Event.customerParted)
            case .customerUnmerged: EventCoding(Event.customerUnmerged)
            case .customerErased: EventCoding(Event.customerErased)
            }
    }
}

extension EventType {
    fileprivate var coding: EventCoding { EventCoding.all[rawValue] }
}
