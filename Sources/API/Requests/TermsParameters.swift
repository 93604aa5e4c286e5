import Core
import HTTPServer
import Service

extension QueryParameters {
    /// The parameters of calls that can be rehearsed or can require certain versions.
    static let terms = ["dry_run", "if_version"]

    /// Returns the terms of a call that concerns the given number of customers.
    func terms(
        concerning customers: ClosedRange<Int> = 1...1,
        inOrder order: String = "the purchase's holder, and of the customer who is to receive it"
    ) throws(Problem) -> Terms {
        let isRehearsal = try flag("dry_run")
        guard let text = self["if_version"] else { return Terms(isRehearsal: isRehearsal) }
        let versions = text.split(separator: ",", omittingEmptySubsequences: false).map {
            Int64($0).flatMap { $0 < 0 ? nil : $0 }
        }
        guard customers.contains(versions.count), !versions.contains(nil) else {
            throw .invalid(
                "if_version",
                customers == 1...1
                    ? "The parameter \"if_version\" must be a customer's version like 12."
                    : "The parameter \"if_version\" must be the versions of both customers like 12,7: of "
                        + "\(order).")
        }
        return Terms(isRehearsal: isRehearsal, versions: versions.compactMap(\.self))
    }
}

/// The fulfilment or rehearsal of wishes, according to their calls' terms.
struct TermsKeeper: Sendable {
    let customers: Customers

    func response<Answer>(
        to wish: Wish<Answer>, on terms: Terms, _ render: @escaping @Sendable (Answer) -> Response
    ) -> Wish<Response> {
        let wish = wish.requiring(terms.versions)
        return terms.isRehearsal
            ? customers.rehearsing(wish).response { .json($0.json, position: $0.position) }
            : wish.response(render)
    }
}
