package import Core
package import JSON

/// A notification and its delivery.
package struct Posting: Codable, Sendable {
    package struct Attempt: Codable, Sendable {
        package let at: Instant
        /// The result, as named in the notification history.
        package let result: String
    }

    /// The subject of a notification, with the payloads of the statements inside it.
    enum About: Codable, Sendable {
        case nothing
        case transaction(String, renewal: String?)
        case app(String)
        case summary(String)
    }

    package let id: String
    package let type: String
    package let subtype: String?
    /// When the store signed the notification.
    let signedAt: Instant
    package let at: Instant
    /// The transaction and the customer that the notification concerns.
    package let transaction: String?
    package let customer: String?
    /// The subject, with the payloads as they were when the notification was created.
    let about: About
    let status: Int64?
    package internal(set) var attempts: [Attempt] = []
    /// When the next attempt is due; `nil` once the notification has been accepted or the store has given up.
    package internal(set) var next: Instant?
    /// How many copies of the notification the first attempt sends.
    var copies = 1
    /// Whether the first attempt has a wrong signature.
    var isSpoiled = false
    /// Why a customer requests a refund, if the notification is about such a request.
    var reason: String?
}

extension PracticeWorld {
    /// Records a notification about a transaction and, if it has one, its subscription.
    mutating func post(
        _ type: String, _ subtype: String? = nil, about transaction: String?,
        because reason: Step.Reason? = nil
    ) {
        guard let transaction, let sale = sale(transaction) else {
            return append(type, subtype, .nothing)
        }
        let subscription = subscriptions[sale.original]
        let signedAt = trouble.skewed(now)
        let about = Posting.About.transaction(
            payload(of: sale, signedAt: signedAt).text,
            renewal: subscription.map { payload(of: $0, signedAt: signedAt).text })
        append(
            type, subtype, about, transaction: transaction, customer: sale.customer,
            status: subscription?.status, because: reason)
    }

    mutating func postRescindedConsent(of customer: String) {
        let about = Posting.About.app(appPayload(of: customer).text)
        append("RESCIND_CONSENT", nil, about, customer: customer)
    }

    mutating func append(
        _ type: String, _ subtype: String?, _ about: Posting.About, transaction: String? = nil,
        customer: String? = nil, status: Int64? = nil, because reason: Step.Reason? = nil
    ) {
        var posting = Posting(
            id: uuid(), type: type, subtype: subtype, signedAt: trouble.skewed(now), at: now,
            transaction: transaction, customer: customer, about: about, status: status)
        posting.reason = reason?.rawValue.uppercased()
        defer { postings.append(posting) }
        guard shop.app.notificationURL != nil else { return }
        var luck = fates.ofPosting(forgottenPostings + postings.count)
        if luck.strikes(trouble.drop) {
            // The notification was lost in transit. The store counts it as sent but gets no answer.
            posting.attempts = [Posting.Attempt(at: now, result: "NO_RESPONSE")]
            return
        }
        posting.next = now
        if luck.strikes(trouble.delay) || luck.strikes(trouble.shuffle) {
            let late = Int64(luck.next() % UInt64(max(1, trouble.delayLimit.milliseconds)))
            posting.next = now.advanced(byMilliseconds: pace.milliseconds(late))
        }
        if luck.strikes(trouble.repeat) { posting.copies = 2 }
        posting.isSpoiled = luck.strikes(trouble.wrongSignature)
        openPostings.append(postings.count)
    }

    /// How many notifications are kept once they are too old for the history.
    private static let oldPostings = 2000
    private static let reach = 181 * 86_400_000 as Int64

    /// Deletes notifications that nothing refers to, because a store may run for months.
    mutating func forgetOldPostings() {
        let end = now.advanced(byMilliseconds: -pace.milliseconds(PracticeWorld.reach))
        let old = postings.prefix { $0.at < end && $0.next == nil }.count
        let surplus = old - PracticeWorld.oldPostings
        if surplus <= 0 { return }
        postings.removeFirst(surplus)
        forgottenPostings += surplus
        openPostings = openPostings.map { $0 - surplus }
    }

    /// The hours between attempts.
    private static let retryHours: [Int64] = [1, 12, 24, 48, 72]

    /// Records the result of an attempt, and schedules the next attempt if there is one.
    package mutating func record(_ result: String, of index: Int) {
        postings[index].attempts.append(Posting.Attempt(at: now, result: result))
        let tries = postings[index].attempts.count
        let hours = shop.app.retries == .production ? PracticeWorld.retryHours : []
        if result == "SUCCESS" || tries > hours.count {
            postings[index].next = nil
            openPostings.removeAll { $0 == index }
        } else {
            postings[index].next = now.advanced(
                byMilliseconds: pace.milliseconds(hours[tries - 1] * 3_600_000))
        }
        postings[index].isSpoiled = false
        postings[index].copies = 1
    }

    /// Returns the unsigned body of a notification. `sign` signs the statements inside.
    package func payload(of posting: Posting, sign: (JSON) -> String) -> JSON {
        var body = JSONObject()
        body.append("notificationType", .string(posting.type))
        if let subtype = posting.subtype { body.append("subtype", .string(subtype)) }
        body.append("notificationUUID", .string(posting.id))
        var data = JSONObject()
        if let id = statedAppleID { data.append("appAppleId", .integer(id)) }
        data.append("bundleId", .string(shop.app.bundleID))
        data.append("environment", .string(environment))
        var name = "data"
        func signed(_ text: String) -> JSON { .string(sign((try? JSON.read(text)) ?? .null)) }
        switch posting.about {
        case .nothing: break
        case .transaction(let transaction, let renewal):
            data.append("bundleVersion", .string(shop.app.version))
            data.append("signedTransactionInfo", signed(transaction))
            if let renewal { data.append("signedRenewalInfo", signed(renewal)) }
            if let status = posting.status { data.append("status", .integer(status)) }
            if let reason = posting.reason {
                data.append("consumptionRequestReason", .string(reason))
            }
        case .app(let app):
            name = "appData"
            data.append("signedAppTransactionInfo", signed(app))
        case .summary(let text):
            name = "summary"
            for member in (try? JSON.read(text))?.object?.members ?? [] {
                data.append(member.name, member.value)
            }
        }
        body.append(name, .object(data))
        body.append("version", "2.0")
        body.append("signedDate", .integer(posting.signedAt.milliseconds))
        return .object(body)
    }
}
