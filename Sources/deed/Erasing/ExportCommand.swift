import API
import Commands
import Core
import Service

let exportCommand = CommandSpec(
    path: ["customer", "export"],
    summary: "Writes everything stored about a customer as one JSON document.",
    positionals: [customerPositional],
    options: [.value("customer", "ID", "the customer's id, as a flag"), .project] + Option.database,
    onlyReads: true, example: "deed customer export u1 > u1.json"
) { invocation throws(CommandEnd) in
    let stream = try invocation.customerOfBoth()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let page = Page()
        try obey(
            ExportText.write(useCases.exports, stream.customer, in: stream.project) { bytes in
                page.bytes += bytes
                if page.bytes.count >= 1 << 16 { page.write() }
            })
        page.bytes.append(UInt8(ascii: "\n"))
        page.write()
    }
}

/// The part of the document that is written next.
private final class Page {
    var bytes: [UInt8] = []

    func write() {
        printBytes(bytes)
        bytes = []
    }
}

extension Invocation {
    /// Returns the customer, for a command about both environments.
    func customerOfBoth() throws(CommandEnd) -> Core.Stream {
        if self["customer"] != nil, positional(0) != nil {
            throw usage("name the customer once: as an argument or with --customer")
        }
        guard let text = self["customer"] ?? positional(0) else {
            throw usage("--customer is missing")
        }
        return try productionStream(of: text)
    }

    func productionStream(of text: String) throws(CommandEnd) -> Core.Stream {
        let customer: CustomerID = try id(text, named: "--customer")
        if customer.isReserved { throw usage("--customer begins with a prefix that Deed reserves") }
        return Core.Stream(project: try project(), environment: .production, customer: customer)
    }
}
