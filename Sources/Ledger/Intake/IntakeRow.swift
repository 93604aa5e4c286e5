import Core
import JSON
import Postgres

/// A queued item's columns, in the order in which every query lists them.
struct IntakeRow {
    private enum Column: Int {
        case id, project, purpose, customer, order, environment, kind, app, digest, state, tries
        case nextTryAt, code, sentence, results, actor, reason, ticket, addedAt, changedAt, revision
        case evidence
    }
    let item: IntakeItem

    init(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) {
        func text(_ column: Column) -> String { rows.text(row, column.rawValue) }
        func optionalText(_ column: Column) -> String? {
            rows.optionalText(row, column.rawValue)
        }
        func instant(_ column: Column) -> Instant {
            Instant(milliseconds: rows.int8(row, column.rawValue))
        }
        guard let environment = Environment(rawValue: text(.environment)),
            let word = IntakeItem.State.Word(rawValue: text(.state))
        else { throw .unreadable("an item in the queue") }
        let heading = EvidenceHeading(
            digest: rows.bytes(row, Column.digest.rawValue), kind: text(.kind),
            environment: environment,
            app: try rows.identifier(row, Column.app.rawValue))
        let customer: CustomerID? = try rows.optionalIdentifier(row, Column.customer.rawValue)
        let wish = IntakeWish(
            project: try rows.identifier(row, Column.project.rawValue),
            purpose: try IntakeWish.Purpose(text(.purpose), customer),
            order: try rows.optionalIdentifier(row, Column.order.rawValue), heading: heading)
        let act = try optionalText(.actor).map { _ throws(LedgerError) in
            AdminAct(
                actor: try rows.identifier(row, Column.actor.rawValue),
                reason: try rows.identifier(row, Column.reason.rawValue),
                ticket: try rows.optionalIdentifier(row, Column.ticket.rawValue))
        }
        let state: IntakeItem.State
        switch word {
        case .waiting:
            let reason = optionalText(.code).map {
                IntakeReason(code: $0, sentence: text(.sentence))
            }
            state = .waiting(reason, nextTry: instant(.nextTryAt))
        case .believed: state = .believed(try [IntakeResult](coded: text(.results)))
        case .refused:
            state = .refused(IntakeReason(code: text(.code), sentence: text(.sentence)))
        case .settled, .dropped:
            guard let act else { throw .unreadable("who ended an item in the queue") }
            state = word == .settled ? .settled(act) : .dropped(act)
        }
        item = IntakeItem(
            id: try rows.identifier(row, Column.id.rawValue), wish: wish, state: state,
            tries: rows.int8(row, Column.tries.rawValue),
            retriedBy: [.settled, .dropped].contains(word) ? nil : act,
            addedAt: instant(.addedAt), changedAt: instant(.changedAt),
            revision: rows.int8(row, Column.revision.rawValue))
    }

    /// Returns the stream named in the row, exactly as stored.
    static func subject(_ rows: borrowing Rows, _ row: Int) -> UnreadSubject {
        UnreadSubject(
            rows.text(row, Column.project.rawValue), rows.text(row, Column.environment.rawValue),
            rows.optionalText(row, Column.customer.rawValue) ?? "",
            row: "intake \(rows.text(row, Column.id.rawValue))")
    }

    /// Returns the row's position among its project's rows.
    static func place(_ rows: borrowing Rows, _ row: Int) -> [Bind] {
        [
            .int8(rows.int8(row, Column.addedAt.rawValue)),
            .text(rows.text(row, Column.id.rawValue)),
        ]
    }

    /// Returns the item with its evidence, for the worker that takes the item.
    static func taken(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) -> TakenIntake {
        TakenIntake(
            item: try IntakeRow(rows, row).item, bytes: rows.bytes(row, Column.evidence.rawValue))
    }
}

extension Rows {
    fileprivate func optionalIdentifier<Kind>(
        _ row: Int, _ column: Int
    ) throws(LedgerError) -> Identifier<Kind>? {
        isNull(row, column) ? nil : try identifier(row, column)
    }
}

extension IntakeWish.Purpose {
    fileprivate init(_ word: String, _ customer: CustomerID?) throws(LedgerError) {
        switch (Word(rawValue: word), customer) {
        case (.submit, let customer?): self = .submit(customer)
        case (.restore, let customer?): self = .restore(customer)
        case (.notification, nil): self = .notification
        default: throw .unreadable("the purpose of an item in the queue")
        }
    }
}

extension [IntakeResult] {
    /// The item's state in the form stored in the table.
    var coded: String {
        JSON.array(
            map { result in
                var object = JSONObject()
                object.append("purchase", .optional(result.purchase))
                object.append("transaction", .optional(result.transaction))
                object.append("outcome", .string(result.outcome))
                if let order = result.order { object.append("order", .string(order)) }
                if let product = result.unknownProduct {
                    object.append("unknown_product", .string(product))
                }
                if let reason = result.reason {
                    object.append("code", .string(reason.code))
                    object.append("sentence", .string(reason.sentence))
                }
                return .object(object)
            }
        ).text
    }

    fileprivate init(coded text: String) throws(LedgerError) {
        let elements: [JSON]?
        do throws(JSONError) {
            elements = try JSON.read(text).array
        } catch {
            throw .unreadable("the results of an item in the queue")
        }
        self = []
        for element in elements ?? [] {
            guard let outcome = element["outcome"]?.string else {
                throw .unreadable("a result of an item in the queue")
            }
            let reason = element["code"]?.string.map {
                IntakeReason(code: $0, sentence: element["sentence"]?.string ?? "")
            }
            append(
                IntakeResult(
                    purchase: element["purchase"]?.string,
                    transaction: element["transaction"]?.string, outcome: outcome,
                    order: element["order"]?.string, reason: reason,
                    unknownProduct: element["unknown_product"]?.string))
        }
    }
}
