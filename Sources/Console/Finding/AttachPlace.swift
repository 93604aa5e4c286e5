import API
import Core
import HTTPServer
import JSON

/// The form that leads from an unclaimed purchase to the customer who should get it.
enum AttachPlace {
    /// Returns a form that asks for the customer, or nothing if the role may not attach purchases.
    static func form(_ purchase: String, in room: ProjectRoom, isSandbox: Bool) -> Markup {
        guard Act.attach.isAllowed(in: room) else { return .nothing }
        let environment: [(name: String, value: String)] =
            isSandbox ? [("environment", Environment.sandbox.rawValue)] : []
        let field = Act.Field(name: "customer", label: "Attach to")
        return """
            <form class="short" method="get" action="\(value: room.attach.text)" aria-label="\(value: "\(Act.attach.title): \(purchase)")">
            \(Markup.hidden([("purchase", purchase)] + environment))
            \(field.markup(nil, about: purchase))
            <p><button class="quiet">Show what it changes</button></p>
            </form>
            """
    }

    /// Redirects to the page that attaches the purchase to the named customer.
    static func response(_ room: ProjectRoom, _ visit: Visit) throws(Turned) -> Response {
        guard Act.attach.isAllowed(in: room) else { throw .role(of: room) }
        let fields = Fields(visit.query)
        guard let customer = fields.trimmed("customer"), let purchase = fields.trimmed("purchase")
        else {
            throw .notice(
                400, "That did not work", "Say which customer should get which purchase.")
        }
        let isSandbox = fields["environment"] == Environment.sandbox.rawValue
        let stream = NamedStream(room, customer, isSandbox: isSandbox)
        return .seeOther(stream.below("attach").with("purchase", purchase))
    }
}
