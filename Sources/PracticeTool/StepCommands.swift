import Commands
import JSON
import Practice

extension CommandSpec {
    /// Creates the command that performs a step.
    init(_ act: Step.Act) {
        let flags = StepFlag.all.filter { act.takes.contains($0.member) }
        let name = act.rawValue.replacing("_", with: "-")
        self.init(
            path: [name], summary: act.summary,
            options: (act.isForAll ? [] : [.customer]) + flags.map(\.option) + [.url, .json],
            example: "deed-practice \(name)" + (act.isForAll ? "" : " --customer u1")
                + act.example
        ) { invocation throws(CommandEnd) in
            if let seller = invocation["store"], Step.Seller(rawValue: seller) == nil {
                throw invocation.usage(
                    "--store must be apple or google; --url sets the store's address")
            }
            var step = JSONObject()
            step.append("do", .string(act.rawValue))
            if let customer = invocation["customer"] { step.append("customer", .string(customer)) }
            for flag in flags {
                if let value = try flag.value(in: invocation) { step.append(flag.member, value) }
            }
            let client = StoreClient(invocation)
            let answer = try client.ask("POST", "/practice/steps", .object(step))
            let url = try client.notificationURL()
            // Only after these steps does the app have something to pass on to a back end.
            let bought: Set<Step.Act> = [
                .buy, .approve, .change, .share, .topUp, .addOn, .resubscribe,
            ]
            let service = bought.contains(act) || url == nil ? service(notifiedAt: url) : nil
            invocation.show(answer, text: handover(answer, told(answer, at: url), for: service))
        }
    }
}

/// A flag that sets a member of a step.
private struct StepFlag {
    enum Kind { case text, whole, decimal, bare }
    let member: String
    let kind: Kind
    let option: Option

    private init(_ name: String, _ valueName: String, _ help: String, _ kind: Kind = .text) {
        member = name.replacing("-", with: "_")
        option = kind == .bare ? .flag(name, help) : .value(name, valueName, help)
        self.kind = kind
    }

    func value(in invocation: Invocation) throws(CommandEnd) -> JSON? {
        if kind == .bare { return invocation.has(option.name) ? true : nil }
        guard let text = invocation[option.name] else { return nil }
        switch kind {
        case .whole:
            guard let number = Int64(text) else {
                throw invocation.usage("--\(option.name) must be a whole number")
            }
            return .integer(number)
        case .decimal:
            if Double(text) == nil {
                throw invocation.usage("--\(option.name) must be a number")
            }
            return .decimal(text)
        case .text, .bare: return .string(text)
        }
    }

    static let all = [
        StepFlag("store", "NAME", "the store: apple or google"),
        StepFlag(
            "product", "ID",
            "a product in shop.json; in Google Play, also with a base plan: pro:monthly"),
        StepFlag(
            "transaction", "ID", "a transaction or purchase token; the default is the newest one"),
        StepFlag("offer", "ID", "an offer of the product"),
        StepFlag("quantity", "N", "the quantity", .whole),
        StepFlag("token", "UUID", "the account token that the purchase carries"),
        StepFlag("version", "V", "the version of the app that was first installed"),
        StepFlag("ask", "", "make the purchase wait for a parent's approval", .bare),
        StepFlag("percent", "N", "the refunded share of the price", .decimal),
        StepFlag("prorated", "", "refund the rest of the period", .bare),
        StepFlag("for-app", "", "give a problem with the app as the reason", .bare),
        StepFlag("reason", "WORD", "why the customer wants the money back"),
        StepFlag("days", "N", "how many days", .whole),
        StepFlag("with", "NAME", "the family member"),
        StepFlag("price", "N", "the new price, in thousandths", .whole),
        StepFlag("needs-consent", "", "make renewals wait for customers' consent", .bare),
        StepFlag("pending", "", "leave the payment pending until approve or decline", .bare),
        StepFlag("when", "WORD", "now, or deferred until the period ends"),
        StepFlag("keep-access", "", "refund, but let the customer keep access", .bare),
        StepFlag("in-store", "", "buy in the store's own app, not in the developer's", .bare),
    ]
}

extension Step.Act {
    fileprivate var summary: String {
        switch self {
        case .install: "Installs the app."
        case .buy: "Buys a product."
        case .cancel: "Stops the renewal of a subscription."
        case .resume: "Lets a cancelled or paused subscription renew again."
        case .change:
            "Changes the product: an upgrade at once, a downgrade next period, or as --when says."
        case .refund: "Refunds a transaction."
        case .reverse: "Reverses a refund."
        case .requestRefund:
            "Has the store ask the back end about a refund that the customer wants."
        case .declineRefund: "Has the store decline the refund that the customer wants."
        case .failBilling: "Makes the customer's payments fail until they are repaired."
        case .fixBilling: "Makes payments succeed again, and collects failed ones."
        case .extend: "Extends a subscription."
        case .share: "Shares a purchase with a family member."
        case .unshare: "Ends sharing with one family member, or with all."
        case .approve: "Approves waiting purchases as a parent; in Google Play, pays for them."
        case .decline: "Declines waiting purchases as a parent; in Google Play, leaves them unpaid."
        case .raisePrice: "Raises the price of a product's renewals."
        case .consent: "Accepts a higher price on the customer's behalf."
        case .withdraw: "Stops selling a product, which then no longer renews."
        case .setToken: "Adds an account token to a purchase."
        case .finish:
            "Finishes a transaction as the app; in Google Play, acknowledges or consumes it."
        case .rescindConsent: "Withdraws a parent's consent to the app."
        case .testNotification: "Sends a test notification."
        case .pause:
            "Pauses a subscription in Google Play for --days days, starting at its next payment."
        case .hold: "Puts a subscription in Google Play on hold, as after failed payments."
        case .recover: "Repairs the payment of a subscription in Google Play."
        case .topUp: "Pays for more time on a prepaid plan in Google Play."
        case .addOn: "Adds an item to a subscription in Google Play."
        case .postpone: "Postpones the next payment of a subscription in Google Play by --days."
        case .resubscribe: "Subscribes again in Google Play after a cancellation."
        }
    }

    fileprivate var example: String {
        switch self {
        case .buy, .change, .withdraw: " --product pro.month"
        case .raisePrice: " --product pro.month --price 12990"
        case .extend, .pause, .postpone: " --days 30"
        case .addOn: " --product sounds:monthly"
        case .share: " --with u2"
        case .setToken: " --token 6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
        default: ""
        }
    }
}
