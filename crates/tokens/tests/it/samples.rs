//! Sentences of our own in many scripts and kinds, to measure counters on.

/// Name and text.
pub(crate) const SAMPLES: &[(&str, &str)] = &[
    (
        "english",
        "The second warehouse was counted again on Tuesday, and this time the numbers agreed. \
        Nobody could say why the first list had been short by forty crates; perhaps a page was lost between the office and the dock. \
        We wrote down what we saw, signed both copies, and asked the harbour master to keep one of them. \
        If the ropes arrive before Friday, please store them upstairs where it is dry, and tell Martha that the old nets can go. ",
    ),
    (
        "german",
        "Die zweite Lagerhalle wurde am Dienstag noch einmal gezählt, und diesmal stimmten die Zahlen überein. \
        Niemand wusste, weshalb in der ersten Aufstellung vierzig Kisten fehlten; vermutlich ging unterwegs ein Blatt verloren. \
        Bitte überprüfen Sie die Versicherungsbescheinigung und die Zahlungsbedingungen, bevor wir den Kaufvertrag unterschreiben. ",
    ),
    (
        "french",
        "Le deuxième entrepôt a été recompté mardi, et cette fois les chiffres étaient identiques. \
        Personne n'a su dire pourquoi il manquait quarante caisses sur la première liste ; une page s'est sans doute égarée. \
        Si les cordages arrivent avant vendredi, rangez-les à l'étage, là où il fait sec, et prévenez Marthe. ",
    ),
    (
        "polish",
        "Drugi magazyn policzono ponownie we wtorek i tym razem liczby się zgadzały. \
        Nikt nie potrafił powiedzieć, dlaczego na pierwszej liście brakowało czterdziestu skrzyń. \
        Jeśli liny przyjdą przed piątkiem, połóżcie je na górze, gdzie jest sucho, i powiedzcie o tym Marcie. ",
    ),
    (
        "turkish",
        "İkinci depo salı günü yeniden sayıldı ve bu kez sayılar birbirini tuttu. \
        İlk listede neden kırk sandığın eksik olduğunu kimse söyleyemedi; belki yolda bir sayfa kayboldu. \
        Halatlar cumadan önce gelirse lütfen üst kattaki kuru odaya koyun ve Marta'ya haber verin. ",
    ),
    (
        "vietnamese",
        "Kho hàng thứ hai đã được kiểm đếm lại vào thứ Ba và lần này các con số khớp nhau. \
        Không ai biết vì sao danh sách đầu tiên thiếu bốn mươi thùng; có lẽ một trang giấy đã bị thất lạc. \
        Nếu dây thừng đến trước thứ Sáu, xin hãy để ở tầng trên nơi khô ráo và báo cho chị Mai biết. ",
    ),
    (
        "greek",
        "Η δεύτερη αποθήκη μετρήθηκε ξανά την Τρίτη και αυτή τη φορά οι αριθμοί συμφωνούσαν. \
        Κανείς δεν ήξερε γιατί έλειπαν σαράντα κιβώτια από τον πρώτο κατάλογο· ίσως χάθηκε μια σελίδα. \
        Αν έρθουν τα σχοινιά πριν την Παρασκευή, βάλτε τα πάνω όπου είναι στεγνά και πείτε το στη Μάρθα. ",
    ),
    (
        "russian",
        "Второй склад пересчитали во вторник, и на этот раз числа совпали. \
        Никто не мог сказать, почему в первом списке не хватало сорока ящиков; наверное, по дороге потерялся лист. \
        Если канаты привезут до пятницы, сложите их наверху, где сухо, и предупредите Марту, что старые сети можно выбросить. ",
    ),
    (
        "hebrew",
        "המחסן השני נספר שוב ביום שלישי והפעם המספרים התאימו. \
        איש לא ידע מדוע חסרו ארבעים ארגזים ברשימה הראשונה; אולי אבד דף בדרך. \
        אם החבלים יגיעו לפני יום שישי, אנא אחסנו אותם למעלה במקום יבש וספרו על כך למרתה. ",
    ),
    (
        "arabic",
        "أعيد عد المستودع الثاني يوم الثلاثاء وهذه المرة تطابقت الأرقام. \
        لم يعرف أحد لماذا نقصت القائمة الأولى أربعين صندوقا، ربما ضاعت ورقة في الطريق. \
        إذا وصلت الحبال قبل يوم الجمعة فضعوها في الطابق العلوي حيث المكان جاف وأخبروا مرتا بذلك. ",
    ),
    (
        "hindi",
        "दूसरे गोदाम की गिनती मंगलवार को फिर से हुई और इस बार संख्याएँ मिल गईं। \
        कोई नहीं बता सका कि पहली सूची में चालीस पेटियाँ कम क्यों थीं; शायद रास्ते में एक पन्ना खो गया। \
        अगर रस्सियाँ शुक्रवार से पहले आ जाएँ तो उन्हें ऊपर सूखी जगह पर रखना और मीना को बता देना। ",
    ),
    (
        "tamil",
        "இரண்டாவது கிடங்கு செவ்வாய்க்கிழமை மீண்டும் எண்ணப்பட்டது, இந்த முறை எண்கள் பொருந்தின. \
        முதல் பட்டியலில் நாற்பது பெட்டிகள் ஏன் குறைந்தன என்று யாருக்கும் தெரியவில்லை. \
        கயிறுகள் வெள்ளிக்கிழமைக்கு முன் வந்தால் மேலே உலர்ந்த இடத்தில் வைக்கவும். ",
    ),
    (
        "thai",
        "โกดังที่สองถูกนับใหม่ในวันอังคาร และครั้งนี้ตัวเลขตรงกัน \
        ไม่มีใครบอกได้ว่าทำไมรายการแรกจึงขาดไปสี่สิบลัง บางทีอาจมีกระดาษหายไประหว่างทาง \
        ถ้าเชือกมาถึงก่อนวันศุกร์ กรุณาเก็บไว้ชั้นบนที่แห้ง และบอกมาลีด้วย ",
    ),
    (
        "georgian",
        "მეორე საწყობი სამშაბათს ხელახლა დაითვალეს და ამჯერად რიცხვები დაემთხვა. \
        არავინ იცოდა, რატომ აკლდა პირველ სიას ორმოცი ყუთი. ",
    ),
    (
        "chinese",
        "第二间仓库星期二重新清点了一遍，这一次数字对上了。没有人说得清为什么第一份清单少了四十箱，\
        也许有一页纸在办公室和码头之间弄丢了。我们把看到的情况写下来，两份都签了字，请港务长保管其中一份。\
        如果绳索在星期五之前送到，请放在楼上干燥的地方，并告诉玛莎旧渔网可以处理掉了。",
    ),
    (
        "japanese",
        "二番目の倉庫は火曜日にもう一度数え直され、今回は数が合いました。最初の一覧でなぜ四十箱も足りなかったのか、\
        誰にも説明できませんでした。おそらく途中で紙が一枚なくなったのでしょう。ロープが金曜日までに届いたら、\
        乾いている二階にしまって、古い網は捨ててもよいとマルタさんに伝えてください。",
    ),
    (
        "katakana",
        "コンピューターのメモリーとハードディスクをチェックし、ネットワークケーブルをスイッチにセットしてからサーバーをリスタートします。",
    ),
    (
        "korean",
        "두 번째 창고는 화요일에 다시 세었고 이번에는 숫자가 맞았습니다. 첫 번째 목록에서 왜 마흔 상자가 모자랐는지 \
        아무도 설명하지 못했습니다. 아마 오는 길에 종이 한 장이 없어졌을 것입니다. 밧줄이 금요일 전에 도착하면 \
        위층 마른 곳에 두고 낡은 그물은 버려도 된다고 전해 주세요. ",
    ),
    (
        "emoji",
        "📦📦📋✅ 🚢⚓️🌊 👩‍🔧👨‍🔧🛠️ 😀😅🤔😴 🎉🎊🥳 👍🏽👎🏿🙏🏻 🇫🇷🇯🇵🇧🇷 ❤️🧡💛💚 🐟🦀🐙🦑 1️⃣2️⃣3️⃣ ☀️🌧️⛈️❄️ ",
    ),
    (
        "mixed chat",
        "ok 👍 let's ship v2.3.1 今天 — но сначала tests! :-) \n> see #482 (déjà vu)\n",
    ),
    (
        "rust",
        "impl<'a> Reader<'a> {\n    /// Reads one record, or `None` at the end.\n    pub fn next_record(&mut self) -> Option<Result<Record, Error>> {\n        \
        let line = self.lines.next()?;\n        if line.trim().is_empty() {\n            return self.next_record();\n        }\n        \
        Some(serde_json::from_str(line).map_err(|e| Error::Line { number: self.number, source: e }))\n    }\n}\n",
    ),
    (
        "python",
        "def tally(rows, *, key=\"crates\"):\n    \"\"\"Sum the crates of each warehouse.\"\"\"\n    totals = collections.defaultdict(int)\n    \
        for row in rows:\n        if not row.get(\"valid\", True):\n            continue\n        totals[row[\"warehouse_id\"]] += int(row[key])\n    \
        return dict(sorted(totals.items()))\n",
    ),
    (
        "json minified",
        r#"{"id":"wh-002","counted":"2026-03-17T09:41:22Z","rows":[{"sku":"NET-40","qty":118,"ok":true},{"sku":"ROPE-9","qty":0,"ok":false,"note":null}],"total":1188.5,"by":{"name":"Martha","role":"clerk"}}"#,
    ),
    (
        "json pretty",
        "{\n  \"warehouse\": {\n    \"id\": \"wh-002\",\n    \"rows\": [\n      {\n        \"sku\": \"NET-40\",\n        \"quantity\": 118,\n        \"valid\": true\n      }\n    ]\n  }\n}\n",
    ),
    (
        "log",
        "2026-03-17T09:41:22.318Z INFO  warehouse::count] worker=7 batch=0193fa step=3/12 elapsed=184ms rows=4096\n\
        2026-03-17T09:41:22.502Z WARN  warehouse::store] retry 2 after connection reset by peer (os error 104) addr=10.0.12.7:5432\n",
    ),
    (
        "listing",
        "-rw-r--r--  1 clerk dock   40213 Mar 17 09:41 crates_2026-03.csv\ndrwxr-xr-x  4 clerk dock    4096 Mar 16 18:02 archive\n./src/count/tests/fixtures/rows_0007.json:118:        \"sku\": \"ROPE-9\",\n",
    ),
    (
        "html",
        "<table class=\"stock\"><tr data-sku=\"NET-40\"><td>Net, 40 m</td><td align=\"right\">118</td></tr><tr><td colspan=\"2\">&nbsp;</td></tr></table>\n",
    ),
    (
        "digits",
        "3141592653589793 2384 62643 383279 50288 4197 169399375105820974944592307816406286 ",
    ),
    (
        "csv",
        "17,118,0.5,NET-40,true\n18,0,12.75,ROPE-9,false\n19,4096,3.125,CRATE,true\n",
    ),
    (
        "markdown",
        "## Stock of the second warehouse\n\n| item | count | note |\n|------|------:|------|\n| nets | 118 | *dry* |\n| ropes | 0 | **late** |\n\n- [x] counted twice\n- [ ] signed by the [harbour master](https://example.org/dock?id=7)\n\n",
    ),
];

/// `text` again and again until it has at least `bytes`.
pub(crate) fn at_least(text: &str, bytes: usize) -> String {
    text.repeat(bytes.div_ceil(text.len()))
}
