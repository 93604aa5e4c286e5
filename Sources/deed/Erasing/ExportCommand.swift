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
