import API
import Core

/// A customer in one environment, as named in a page's address.
struct NamedStream: Sendable {
    let room: ProjectRoom
    let customer: String
    let isSandbox: Bool

    init(_ room: ProjectRoom, _ customer: String, isSandbox: Bool) {
        self.room = room
        self.customer = customer
        self.isSandbox = isSandbox
    }

    /// Takes the customer from the second argument in the page's address.
    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        let environment = Fields(visit.query)["environment"] ?? Environment.production.rawValue
        guard let environment = Environment(rawValue: environment) else {
            throw .notice(
                400, "That did not work", "The environment must be production or sandbox.")
        }
        self.init(room, visit.arguments[1], isSandbox: environment == .sandbox)
    }

    var environment: String {
        (isSandbox ? Environment.sandbox : Environment.production).rawValue
    }

    /// The customer's page.
    var place: Place { below() }

    /// Returns the address of a page below the customer's page.
    func below(_ parts: String...) -> Place {
        let place = Place(["p", room.project.text, "customers", customer] + parts)
        return isSandbox ? place.with("environment", environment) : place
    }

    /// Returns the same address without the environment. A `GET` form sends the environment as a field.
    func bare(_ parts: String...) -> Place {
        Place(["p", room.project.text, "customers", customer] + parts)
    }

    /// The same customer in the other environment.
    var other: NamedStream { NamedStream(room, customer, isSandbox: !isSandbox) }

    /// Returns the path of a call about this customer.
    func path(_ rest: String = "") -> String {
        "/customers/\(percentEncoded(customer))\(rest)"
    }

    /// Returns the query of a call about the customer, in this environment or in both.
    func query(_ parameters: (name: String, value: String?)..., isOfBoth: Bool = false) -> String {
        let head = isOfBoth ? [] : [(name: "environment", value: String?.some(environment))]
        return (head + parameters).compactMap { parameter in
            parameter.value.map { "\(parameter.name)=\(percentEncoded($0))" }
        }.joined(separator: "&")
    }
}
