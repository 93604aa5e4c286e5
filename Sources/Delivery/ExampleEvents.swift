/// What `docs/events.md` shows as an example of each event of a customer.
let exampleEvents: [String: String] = [
    "purchase.made": #"""
    {"store":"apple","environment":"production","app":"com.example.game","transaction":"2526\#
    290000000002","original":"2526290000000002","product":"pro.month","kind":"auto_renewable\#
    ","purchased":"2026-11-25T12:09:09.940Z","originally_purchased":"2026-11-25T12:09:09.940\#
    Z","expires":"2026-12-02T12:09:09.940Z","quantity":1,"offer":{"kind":"introductory","dis\#
    count":"free_trial","period":"P7D"},"ownership":"purchased","account_token":"00000000-00\#
    00-4000-8000-000000000001","app_transaction":"704052629000000001","price":{"milliunits":\#
    0,"currency":"USD"},"group":"20000001","line_item":"2526290000000003","signed_at":"2026-\#
    11-25T12:09:09.940Z","rank":"notification"}
    """#,
    "subscription.renewed": #"""
    {"store":"apple","environment":"production","app":"com.example.game","transaction":"2526\#
    290000000062","original":"2526290000000002","product":"pro.month","kind":"auto_renewable\#
    ","purchased":"2026-12-02T12:09:09.940Z","originally_purchased":"2026-11-25T12:09:09.940\#
    Z","expires":"2027-01-02T12:09:09.940Z","quantity":1,"ownership":"purchased","account_to\#
    ken":"00000000-0000-4000-8000-000000000001","app_transaction":"704052629000000001","pric\#
    e":{"milliunits":9990,"currency":"USD"},"group":"20000001","line_item":"2526290000000063\#
    ","signed_at":"2026-12-01T19:21:09.940Z","rank":"notification"}
    """#,
    "subscription.upgraded": #"""
    {"store":"apple","environment":"production","app":"com.example.game","transaction":"2526\#
    290000000074","original":"2526290000000022","product":"premium.month","kind":"auto_renew\#
    able","purchased":"2026-12-20T12:09:09.940Z","originally_purchased":"2026-11-25T12:09:09\#
    .944Z","expires":"2027-01-20T12:09:09.940Z","quantity":1,"ownership":"purchased","accoun\#
    t_token":"00000000-0000-4000-8000-000000000005","app_transaction":"704052629000000021","\#
    price":{"milliunits":14990,"currency":"USD"},"group":"20000001","line_item":"25262900000\#
    00075","signed_at":"2026-12-20T12:09:09.940Z","rank":"notification"}
    """#,
    "subscription.extended": #"""
    {"store":"apple","environment":"production","app":"com.example.game","transaction":"2526\#
    290000000037","original":"2526290000000037","product":"pro.month","kind":"auto_renewable\#
    ","purchased":"2026-11-25T12:09:09.948Z","originally_purchased":"2026-11-25T12:09:09.948\#
    Z","expires":"2027-01-24T12:09:09.948Z","quantity":1,"ownership":"purchased","account_to\#
    ken":"00000000-0000-4000-8000-000000000010","app_transaction":"704052629000000036","pric\#
    e":{"milliunits":9990,"currency":"USD"},"group":"20000001","line_item":"2526290000000038\#
    ","signed_at":"2026-12-07T12:09:09.940Z","rank":"notification"}
    """#,
    "purchase.refunded": #"""
    {"store":"apple","environment":"production","app":"com.example.game","transaction":"2526\#
    290000000027","original":"2526290000000027","product":"pro.year","kind":"auto_renewable"\#
    ,"purchased":"2026-11-25T12:09:09.945Z","originally_purchased":"2026-11-25T12:09:09.945Z\#
    ","expires":"2027-11-25T12:09:09.945Z","quantity":1,"revocation":{"at":"2027-03-05T12:09\#
    :09.940Z","reason":"other","extent":"prorated","milli_percent":72602},"ownership":"purch\#
    ased","account_token":"00000000-0000-4000-8000-000000000006","app_transaction":"70405262\#
    9000000026","price":{"milliunits":79990,"currency":"USD"},"group":"20000001","line_item"\#
    :"2526290000000028","signed_at":"2027-03-05T12:09:09.940Z","rank":"notification"}
    """#,
    "purchase.revoked": #"""
    {"store":"apple","environment":"production","app":"com.example.game","transaction":"2526\#
    290000000587","original":"2526290000000553","product":"pro.month","kind":"auto_renewable\#
    ","purchased":"2028-06-08T12:09:09.940Z","originally_purchased":"2028-05-09T12:09:09.940\#
    Z","expires":"2028-07-08T12:09:09.940Z","quantity":1,"revocation":{"at":"2028-06-17T12:0\#
    9:09.940Z","reason":"other","extent":"family"},"ownership":"family_shared","app_transact\#
    ion":"704052629000000006","price":{"milliunits":0,"currency":"USD"},"group":"20000001","\#
    line_item":"2526290000000588","signed_at":"2028-06-17T12:09:09.940Z","rank":"notificatio\#
    n"}
    """#,
    "refund.reversed": #"""
    {"store":"apple","environment":"production","app":"com.example.game","transaction":"2526\#
    290000000054","original":"2526290000000054","product":"level2","kind":"non_consumable","\#
    purchased":"2026-11-30T12:09:09.940Z","originally_purchased":"2026-11-30T12:09:09.940Z",\#
    "quantity":1,"ownership":"purchased","account_token":"00000000-0000-4000-8000-0000000000\#
    08","app_transaction":"704052629000000053","price":{"milliunits":2990,"currency":"USD"},\#
    "signed_at":"2027-02-13T12:09:09.940Z","rank":"notification"}
    """#,
    "purchase.restated": #"""
    {"store":"apple","environment":"production","app":"com.example.game","transaction":"2526\#
    290000000037","original":"2526290000000037","product":"pro.month","kind":"auto_renewable\#
    ","purchased":"2026-11-25T12:09:09.948Z","originally_purchased":"2026-11-25T12:09:09.948\#
    Z","expires":"2026-12-25T12:09:09.948Z","quantity":1,"ownership":"purchased","account_to\#
    ken":"00000000-0000-4000-8000-000000000010","app_transaction":"704052629000000036","pric\#
    e":{"milliunits":9990,"currency":"USD"},"group":"20000001","line_item":"2526290000000038\#
    ","signed_at":"2026-12-05T12:09:09.940Z","rank":"notification"}
    """#,
    "renewal.changed": #"""
    {"store":"apple","environment":"production","app":"com.example.game","original":"2526290\#
    000000012","product":"pro.month","will_renew":true,"next_product":"pro.month","in_billin\#
    g_retry":true,"grace_until":"2027-01-10T12:09:09.942Z","expiration_intent":"billing_erro\#
    r","renews_at":"2026-12-25T12:09:09.942Z","account_token":"00000000-0000-4000-8000-00000\#
    0000003","signed_at":"2026-12-25T12:09:09.942Z","rank":"notification"}
    """#,
    "renewal.restated": #"""
    {"store":"apple","environment":"production","app":"com.example.game","original":"2526290\#
    000000037","product":"pro.month","will_renew":false,"next_product":"pro.month","account_\#
    token":"00000000-0000-4000-8000-000000000010","signed_at":"2026-12-07T12:09:09.940Z","ra\#
    nk":"notification"}
    """#,
    "app.installed": #"""
    {"store":"apple","environment":"production","app":"com.example.game","original_version":\#
    "1.2","originally_purchased":"2020-01-01T00:00:00.000Z","app_transaction":"7040526290000\#
    00001","signed_at":"2026-01-06T00:00:00.000Z","rank":"client_transaction"}
    """#,
    "refund.requested": #"""
    {"id":"383aec4b-7791-4c68-8e22-44e433fc40a8","store":"apple","environment":"production",\#
    "app":"com.example.game","original":"2526290000000002","transaction":"2526290000000728",\#
    "reason":"unintended_purchase","signed_at":"2028-10-25T12:09:09.941Z","rank":"notificati\#
    on"}
    """#,
    "refund.declined": #"""
    {"id":"5a4f6c1e-0f55-4d0e-9f0c-6f1b0e1d2c3b","store":"apple","environment":"production",\#
    "app":"com.example.game","original":"2526290000000002","transaction":"2526290000000728",\#
    "declined":true,"signed_at":"2028-10-26T08:30:00.000Z","rank":"notification"}
    """#,
    "consent.rescinded": #"""
    {"id":"99b1a929-ca23-40d5-89ba-2561913ddf9f","store":"apple","environment":"production",\#
    "app":"com.example.game","app_transaction":"704052629000000001","signed_at":"2029-03-14T\#
    12:09:09.941Z","rank":"notification"}
    """#,
    "refund.report_prepared": #"""
    {"request":"383aec4b-7791-4c68-8e22-44e433fc40a8","purchase":"apple:2526290000000002","t\#
    ransaction":"2526290000000728","report":{"delivery":"delivered","sample_provided":true,"\#
    used_milli_percent":40000,"preference":"decline"}}
    """#,
    "refund.reported": #"""
    {"request":"383aec4b-7791-4c68-8e22-44e433fc40a8","purchase":"apple:2526290000000002"}
    """#,
    "refund.unreported": #"""
    {"request":"383aec4b-7791-4c68-8e22-44e433fc40a8","purchase":"apple:2526290000000002","w\#
    hy":"too_late","detail":"The store cannot be reached now."}
    """#,
    "purchase.attached": #"""
    {"purchase":"apple:2526290000000201","from":"$unclaimed/apple:2526290000000201","cause":\#
    {"kind":"named","token":"6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"},"at":"2027-05-05T08:00:0\#
    0.000Z","transactions":[{"store":"apple","environment":"production","app":"com.example.g\#
    ame","transaction":"2526290000000201","original":"2526290000000201","product":"pro.commi\#
    tment","kind":"auto_renewable","purchased":"2027-05-04T12:09:09.940Z","originally_purcha\#
    sed":"2027-05-04T12:09:09.940Z","expires":"2027-06-04T12:09:09.940Z","quantity":1,"owner\#
    ship":"purchased","app_transaction":"704052629000000200","price":{"milliunits":7990,"cur\#
    rency":"USD"},"group":"20000001","line_item":"2526290000000202","commitment":{"period":1\#
    ,"periods":12,"ends":"2028-05-04T12:09:09.940Z"},"signed_at":"2027-05-04T12:09:09.940Z",\#
    "rank":"notification"}],"renewals":[],"earlier_tokens":[{"token":"6f0a4f0e-8a0e-4b43-9f5\#
    d-0d1b6c0f8a11","first":{"purchased":"2027-05-04T12:09:09.940Z","transaction":"252629000\#
    0000201"},"last":{"purchased":"2027-05-04T12:09:09.940Z","transaction":"2526290000000201\#
    "}}]}
    """#,
    "purchase.detached": #"""
    {"purchase":"apple:2526290000000201","to":"player-2","cause":{"kind":"admin","reason":"n\#
    ew account","ticket":"T-7"},"at":"2027-06-01T09:30:00.000Z"}
    """#,
    "purchase.blocked": #"""
    {"purchase":"apple:2526290000000201","at":"2027-06-02T08:00:00.000Z","reason":"stolen ca\#
    rd","ticket":"T-8"}
    """#,
    "purchase.unblocked": #"""
    {"purchase":"apple:2526290000000201","at":"2027-06-03T08:00:00.000Z","reason":"it was th\#
    e owner's card"}
    """#,
    "grant.given": #"""
    {"grant":"g_k5thtmg3ez6zh5spata","entitlement":"pro","start":"2026-11-20T19:21:00.000Z",\#
    "end":null,"reason":"outage","ticket":null}
    """#,
    "grant.changed": #"""
    {"grant":"g_k5thtmg3ez6zh5spata","entitlement":"pro","end":"2027-01-20T19:21:00.000Z","r\#
    eason":"a longer outage","ticket":"T-2"}
    """#,
    "grant.revoked": #"""
    {"grant":"g_k5thtmg3ez6zh5spata","entitlement":"pro","at":"2026-11-21T08:00:00.000Z","re\#
    ason":"mistake","ticket":"T-2"}
    """#,
    "balance.credited": #"""
    {"currency":"coins","amount":300,"purchase":"apple:2526290000000069","transaction":"2526\#
    290000000069","per_piece":100}
    """#,
    "balance.debited": #"""
    {"currency":"coins","amount":300,"purchase":"apple:2526290000000069","transaction":"2526\#
    290000000069"}
    """#,
    "balance.spent": #"""
    {"currency":"coins","amount":30,"reason":"sword"}
    """#,
    "balance.adjusted": #"""
    {"currency":"coins","amount":20,"reason":"won a match","earned_at":"2026-11-20T19:21:00.\#
    000Z"}
    """#,
    "order.opened": #"""
    {"order":"shop-4711","token":"9b2f3c1e-52d6-4f0a-8c7e-2f1d0a6b9e34","product":"com.examp\#
    le.coins.100","opened_at":"2026-11-20T19:21:00.000Z","expires":"2026-11-20T20:21:00.000Z\#
    "}
    """#,
    "order.fulfilled": #"""
    {"order":"shop-4711","purchase":"apple:2526290000000032","transaction":"2526290000000032\#
    "}
    """#,
    "order.closed": #"""
    {"order":"shop-4711","cause":{"kind":"settled","reason":"gave the coins by hand","ticket\#
    ":"T-3"},"at":"2026-11-21T08:00:00.000Z"}
    """#,
    "token.registered": #"""
    {"token":"00000000-0000-4000-8000-000000000006"}
    """#,
    "access.started": #"""
    {"entitlement":"pro","at":"2026-12-25T12:09:09.942Z","answer":{"active":true,"since":"20\#
    26-11-25T12:09:09.942Z","until":"2027-01-10T12:09:09.942Z","state":"grace","code":"1.0",\#
    "will_renew":true,"product":"pro.month","source":"purchase","purchase":"apple:2526290000\#
    000012"},"corrects":"24:4"}
    """#,
    "access.ended": #"""
    {"entitlement":"pro","at":"2026-12-25T12:09:09.941Z","answer":{"active":false,"since":"2\#
    026-11-25T12:09:09.941Z","until":"2026-12-25T12:09:09.941Z","state":"expired","code":"-5\#
    .0","product":"pro.month","source":"purchase","purchase":"apple:2526290000000007"}}
    """#,
    "access.ending_soon": #"""
    {"entitlement":"season_pass","at":"2027-02-24T12:09:09.940Z","answer":{"active":true,"si\#
    nce":"2026-11-27T12:09:09.940Z","until":"2027-02-27T12:09:09.940Z","state":"active","cod\#
    e":"3.0","product":"season","source":"purchase","purchase":"apple:2526290000000049"}}
    """#,
    "customer.erased": #"""
    {"reason":"asked for it","ticket":"T-9"}
    """#,
]
