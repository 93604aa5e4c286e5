/// The members of an event's content as shown in answers.
package protocol EventMembers {
    func text(_ name: String) -> String?
    func flag(_ name: String) -> Bool
    func integer(_ name: String) -> Int64
}

/// An event as a sentence without its final period, its reason and its ticket. Names in braces stand for members of the
/// content, or for a phrase that combines several members.
package struct EventSentence: Sendable, ExpressibleByStringLiteral {
    private let template: String

    package init(stringLiteral template: String) {
        self.template = template
    }

    package func text(of members: some EventMembers) -> String {
        let pieces = template.split(omittingEmptySubsequences: false) { "{}".contains($0) }
        return pieces.enumerated().map { place, piece in
            place.isMultiple(of: 2) ? String(piece) : EventSentence.phrase(String(piece), members)
        }.joined()
    }

    private static func phrase(_ name: String, _ members: some EventMembers) -> String {
        switch name {
        case "amount": "\(members.integer("amount")) \(members.text("currency") ?? "")"
        case "until": members.text("end").map { " until \($0)" } ?? " with no end"
        case "period": members.text("expires").map { ", paid until \($0)" } ?? ""
        case "renewal": renewal(members)
        default: members.text(name) ?? ""
        }
    }

    private static func renewal(_ members: some EventMembers) -> String {
        let will = members.flag("will_renew") ? "will" : "will not"
        let trouble = members.flag("in_billing_retry") ? "; the payment failed" : ""
        let grace = members.text("grace_until").map { ", with grace until \($0)" } ?? ""
        return "\(will) be renewed\(trouble)\(grace)"
    }
}
