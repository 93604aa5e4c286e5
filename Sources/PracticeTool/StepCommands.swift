import Commands
import JSON
import Practice

extension CommandSpec {
    /// The command of a step.
    init(_ act: Step.Act) {
        let flags = StepFlag.all.filter { act.takes.contains($0.member) }
        let name = act.rawValue.replacing("_", with: "-")
        self.init(
            path: [name], summary: act.summary,
            options: (act.isForAll ? [] : [.customer]) + flags.map(\.option) + [.store, .json],
            example: "deed-practice \(name)" + (act.isForAll ? "" : " --customer u1")
                + act.example
        ) { invocation throws(CommandEnd) in
            var step = JSONObject()
            step.append("do", .string(act.rawValue))
            if let customer = invocation["customer"] { step.append("customer", .string(customer)) }
            for flag in flags {
                if let value = try flag.value(in: invocation) { step.append(flag.member, value) }
            }
            let client = StoreClient(invocation)
            let answer = try client.ask("POST", "/practice/steps", .object(step))
            let url = try client.notificationURL()
            // The app has nothing to hand over for what the store does on its own.
            let isBought = [.buy, .approve, .change, .share].contains(act)
            let service = isBought || url == nil ? service(notifiedAt: url) : nil
            invocation.show(answer, text: handover(answer, told(answer, at: url), for: service))
        }
    }
}

/// A member of a step, as a flag.
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
        StepFlag("product", "ID", "a product of shop.json"),
        StepFlag("transaction", "ID", "a transaction; without it, the newest one"),
        StepFlag("offer", "ID", "an offer of the product"),
        StepFlag("quantity", "N", "how many pieces of a consumable", .whole),
        StepFlag("token", "UUID", "the account token that the purchase carries"),
        StepFlag("version", "V", "the version of the app that was first installed"),
        StepFlag("ask", "", "let the purchase wait for a parent", .bare),
        StepFlag("percent", "N", "the share of the price that is paid back", .decimal),
        StepFlag("prorated", "", "pay back what is left of the period", .bare),
        StepFlag("for-app", "", "say that the app was the reason", .bare),
        StepFlag("reason", "WORD", "why the customer wants the money back"),
        StepFlag("days", "N", "by how many days", .whole),
        StepFlag("with", "NAME", "the family member"),
        StepFlag("price", "N", "the new price, in thousandths", .whole),
        StepFlag("needs-consent", "", "let renewals wait for the customers' consent", .bare),
    ]
}

extension Step.Act {
    fileprivate var summary: String {
        switch self {
        case .install: "Installs the app."
        case .buy: "Buys a product."
        case .cancel: "Stops the renewal of a subscription."
        case .resume: "Lets a cancelled subscription renew again."
        case .change:
            "Changes to a product of the same group: up at once, down with the next period."
        case .refund: "Refunds a transaction."
        case .reverse: "Takes a refund back."
        case .requestRefund:
            "Has the store ask the back end about a refund that the customer wants."
        case .declineRefund: "Has the store decline the refund that the customer wants."
        case .failBilling: "Lets payments of the customer fail from now on."
        case .fixBilling: "Lets payments succeed again, and collects what is open."
        case .extend: "Extends a subscription."
        case .share: "Shares a purchase with a family member."
        case .unshare: "Ends a share: that member's, or everyone's."
        case .approve: "A parent agrees to the purchases that wait."
        case .decline: "A parent declines the purchases that wait."
        case .raisePrice: "Raises the price of a product's renewals."
        case .consent: "The customer agrees to a higher price."
        case .withdraw: "Stops selling a product; it does not renew."
        case .setToken: "Lets a purchase carry an account token from now on."
        case .finish: "The app finishes a transaction."
        case .rescindConsent: "A parent withdraws the consent to the app."
        case .testNotification: "Sends a test notification."
        }
    }

    fileprivate var example: String {
        switch self {
        case .buy, .change, .withdraw: " --product pro.month"
        case .raisePrice: " --product pro.month --price 12990"
        case .extend: " --days 30"
        case .share: " --with u2"
        case .setToken: " --token 6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
        default: ""
        }
    }
}
