import Assembly
import Commands
import Core

extension Option {
    static let project = setting("project", "NAME", "the project", fallback: "default")
    static let databaseURL = setting(
        "database-url", "URL",
        "the PostgreSQL server to use (default: a private one in the data folder)")
    static let dataDir = setting(
        "data-dir", "FOLDER", "the folder of the private PostgreSQL",
        fallback: Settings.defaultDataFolder)
    static let allowUnknown = flag(
        "allow-unknown", "accept a name that is not in the catalog")
    static let environment = setting(
        "environment", "NAME", "production (the default) or sandbox")
    static let idempotencyKey = value(
        "idempotency-key", "KEY", "act only once, even if the command is repeated with this key")

    /// The flags of every command with database access.
    static let database = [databaseURL, dataDir, testClock, json]
}

extension Invocation {
    func project() throws(CommandEnd) -> ProjectID { try requiredID("project") }

    /// Returns the customer from a flag or the first argument, in the environment given by the flag.
    func stream() throws(CommandEnd) -> Core.Stream { try stream(of: customerText()) }

    private func customerText() throws(CommandEnd) -> String {
        if self["customer"] != nil, positional(0) != nil {
            throw usage("name the customer once: as an argument or with --customer")
        }
        guard let text = self["customer"] ?? positional(0) else {
            throw usage("--customer is missing")
        }
        return text
    }

    /// Returns the customer with this name, in the environment given by the flag.
    func stream(of text: String) throws(CommandEnd) -> Core.Stream {
        let customer = try customer(text, named: "--customer")
        return Core.Stream(
            project: try project(), environment: try environment(), customer: customer)
    }

    /// Returns the customer, for a command about both environments.
    func customerOfBoth() throws(CommandEnd) -> Core.Stream {
        try productionStream(of: customerText())
    }

    func productionStream(of text: String) throws(CommandEnd) -> Core.Stream {
        let customer = try customer(text, named: "--customer")
        return Core.Stream(project: try project(), environment: .production, customer: customer)
    }

    /// Returns the customer with this name, which must not be one of Deed's reserved streams.
    func customer(_ text: String, named name: String) throws(CommandEnd) -> CustomerID {
        let customer: CustomerID = try id(text, named: name)
        if customer.isReserved { throw usage("\(name) begins with a prefix that Deed reserves") }
        return customer
    }

    /// Returns the customer given by a flag.
    func customer(_ name: String) throws(CommandEnd) -> CustomerID? {
        guard let text = self[name] else { return nil }
        return try customer(text, named: "--\(name)")
    }

    func environment() throws(CommandEnd) -> Environment {
        guard let text = self["environment"] else { return .production }
        guard let environment = Environment(rawValue: text) else {
            throw usage("--environment must be production or sandbox")
        }
        return environment
    }
}

extension Invocation {
    /// Returns the period given by `--from` and `--to`.
    func period() throws(CommandEnd) -> (from: Instant?, to: Instant?) {
        let (from, to) = (try instant("from"), try instant("to"))
        if let from, let to, to <= from { throw usage("--to must come after --from") }
        return (from, to)
    }

    /// Returns the place given by `--after`, as an earlier page or list ended with it.
    func place<Place>(
        by read: (String) -> Place?, atEndOf list: String
    ) throws(CommandEnd) -> Place? {
        guard let text = self["after"] else { return nil }
        guard let place = read(text) else {
            throw usage("--after takes the place printed at the end of a \(list)")
        }
        return place
    }
}
