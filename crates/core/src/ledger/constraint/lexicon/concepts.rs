//! Words for the same notion, over languages: what makes two sentences speak of the same thing in other words.
//! The flag marks verbs that say little by themselves.

pub(super) const TABLE: &[(bool, &str)] = &[
    (
        false,
        "ask|asking|asked|confirm|confirming|confirmation|confirmations|approve|approval|approvals|permission|go-ahead|consent|sign-off|check with|checking with|consult|consulting|check in|prompt me|okay from me|ok from me|frag|frage|fragen|rückfrage|rückfragen|nachfragen|zustimmung|erlaubnis|bestätige|bestätigen|bestätigung|demande|demander|demandez|demande-moi|demandez-moi|me demander|confirmation|confirmer|accord|permission|autorisation|pregunta|preguntar|pregúntame|preguntarme|confirmar|confirmación|permiso|aprobación|pergunte|perguntar|confirmação|permissão|aprovação|chiedi|chiedere|chiedermi|chiedimi|conferma|permesso|vraag|vragen|toestemming|спрашивай|спроси|спрашивать|подтверждение|разрешение|разрешения|согласие|согласия|问我|問我|询问|詢問|确认|確認|同意|征求|批准|聞いて|確認|許可|承認|尋ね|물어|확인|허락|승인|pytaj|pytania|zapytaj|zgody|zgoda|potwierdzenie",
    ),
    (
        true,
        "run|running|runs|execute|executing|executes|launch|führe|ausführen|ausführst|lance|lancer|exécuter|exécute|ejecuta|ejecutar|ejecute|execute|executar|rode|rodar|esegui|eseguire|uitvoeren|запускай|запускать|запуск|运行|運行|执行|執行|跑|実行|실행|uruchamiaj|uruchamiać",
    ),
    (
        false,
        "command|commands|shell command|shell commands|befehl|befehle|commande|commandes|comando|comandos|comandi|команда|команды|команд|命令|コマンド|명령|명령어|polecenie|polecenia",
    ),
    (
        false,
        "delete|deleting|deletes|deleted|deletion|deletions|remove|removing|removal|erase|wipe|löschen|lösche|löschst|entfernen|entferne|supprimer|supprime|effacer|borrar|borra|borres|eliminar|elimina|elimines|apagar|apague|remover|remova|excluir|cancellare|cancella|eliminare|verwijder|verwijderen|удаляй|удалять|удали|удаление|删除|刪除|删掉|刪掉|删|刪|削除|消さ|消し|삭제|지우|usuwaj|usuwać|usuń",
    ),
    (
        true,
        "change|changing|changes|changed|modify|modifying|modifies|modification|modifications|edit|editing|edits|alter|touch|touching|tamper|ändern|ändere|änderung|änderungen|bearbeiten|anfassen|modifier|modifie|modifications|toucher|touche|modificar|modifica|modifiques|cambiar|cambios|tocar|toques|alterar|altere|mexer|mexa|modificare|modifiche|toccare|wijzig|wijzigen|aanpassen|aanraken|меняй|менять|изменяй|изменять|изменения|трогай|трогать|修改|改动|改動|编辑|編輯|碰|动|動|変更|編集|触ら|触って|수정|변경|편집|건드리|zmieniaj|zmieniać|zmiany|edytuj|dotykaj",
    ),
    (
        false,
        "test|tests|testing|test suite|unit tests|specs|testen|teste|prueba|pruebas|testes|тест|тесты|тестов|测试|測試|単体テスト|テスト|테스트|testy|testów",
    ),
    (
        false,
        "commit|commits|committing|committed|check in code|committen|committe|commitea|коммит|коммиты|коммить|提交|コミット|커밋|commituj|commity",
    ),
    (
        false,
        "push|pushing|pushes|pushed|pushen|pushe|pousser|pousse|推送|推到|プッシュ|푸시|пуш|пушь|пушить|push ować",
    ),
    (
        false,
        "reply|replies|replying|response|responses|respond|responding|answer|answers|answering|your messages|antwort|antworten|antworte|réponse|réponses|réponds|répondre|répondez|respuesta|respuestas|responde|responder|responda|contesta|resposta|respostas|risposta|risposte|rispondi|rispondere|antwoord|antwoorden|ответ|ответы|отвечай|отвечайте|отвечать|ответов|ответах|ответа|回答|回复|回覆|答复|回应|回應|返信|返答|答え|応答|返事|답변|대답|응답|답해|답장|odpowiedź|odpowiedzi|odpowiadaj",
    ),
    (
        false,
        "email|emails|e-mail|e-mails|mail|mails|courriel|courriels|correo|correos|posta|письмо|письма|почта|почту|邮件|郵件|電子郵件|メール|이메일|메일|maile|maila",
    ),
    (
        false,
        "send|sending|sends|sent|senden|sende|schicken|schick|envoyer|envoie|enviar|envía|envíes|envie|inviare|invia|stuur|versturen|отправляй|отправлять|отправь|发送|發送|发|寄|送信|送って|送ら|보내|전송|wysyłaj|wysyłać",
    ),
    (
        false,
        "message|messages|nachricht|nachrichten|mensaje|mensajes|mensagem|mensagens|messaggio|messaggi|bericht|berichten|сообщение|сообщения|消息|訊息|メッセージ|메시지|wiadomość|wiadomości",
    ),
    (
        false,
        "file|files|datei|dateien|fichier|fichiers|archivo|archivos|fichero|ficheros|arquivo|arquivos|bestand|bestanden|файл|файлы|файлов|文件|檔案|ファイル|파일|plik|pliki|plików",
    ),
    (
        false,
        "folder|folders|directory|directories|dir|ordner|verzeichnis|dossier|dossiers|répertoire|carpeta|carpetas|directorio|pasta|pastas|diretório|cartella|cartelle|map|папка|папку|каталог|文件夹|目录|目錄|資料夾|フォルダ|フォルダー|ディレクトリ|폴더|디렉터리|folder|katalog",
    ),
    (
        false,
        "comment|comments|commenting|kommentar|kommentare|commentaire|commentaires|comentario|comentarios|comentário|comentários|commento|commenti|commentaar|комментарий|комментарии|комментариев|注释|註解|注解|コメント|주석|komentarz|komentarze|komentarzy",
    ),
    (
        false,
        "emoji|emojis|emoticon|emoticons|smiley|smileys|emoticones|表情符号|表情符號|表情|絵文字|이모지|이모티콘|эмодзи|смайлики",
    ),
    (
        false,
        "summary|summaries|summarize|summarise|summarizing|recap|zusammenfassung|zusammenfassungen|résumé|résumés|resumen|resúmenes|resumo|resumos|riassunto|riassunti|samenvatting|резюме|итог|总结|總結|摘要|要約|まとめ|요약|podsumowanie",
    ),
    (
        false,
        "branch|branches|zweig|branche|rama|ramas|ветка|ветку|ветки|分支|ブランチ|브랜치|gałąź",
    ),
    (
        false,
        "dependency|dependencies|libraries|library|packages|package|abhängigkeit|abhängigkeiten|bibliothek|bibliotheken|dépendance|dépendances|dependencia|dependencias|dependência|dependências|dipendenze|afhankelijkheden|зависимость|зависимости|библиотеки|依赖|依賴|套件|第三方库|依存関係|依存|ライブラリ|의존성|라이브러리|zależności|biblioteki",
    ),
    (
        false,
        "production|prod|live system|produktion|produktiv|producción|produção|produzione|productie|продакшн|прод|продакшен|生产环境|生產環境|正式环境|本番|本番環境|프로덕션|운영|produkcja",
    ),
    (
        false,
        "search|searching|web search|suche|suchen|recherche|recherches|búsqueda|busca|buscar|pesquisa|ricerca|cerca|zoek|поиск|ищи|搜索|搜尋|检索|検索|검색|szukaj",
    ),
    (
        false,
        "cite|citing|citation|citations|source|sources|reference|references|quelle|quellen|zitiere|cites|citar|cita|citas|fuente|fuentes|fonte|fontes|fonti|bron|bronnen|источник|источники|引用|来源|來源|出典|参考文献|출처|인용|źródła",
    ),
    (
        false,
        "number|numbers|digits|figures|numerals|zahl|zahlen|ziffern|nombre|nombres|chiffres|número|números|numero|numeri|getal|getallen|число|числа|цифры|数字|數字|数値|숫자|liczby",
    ),
    (
        false,
        "date|dates|datum|daten|fecha|fechas|data e hora|дата|даты|日期|日付|날짜|daty",
    ),
    (
        false,
        "measurement|measurements|units|unit|measures|einheit|einheiten|maße|mesure|mesures|unités|medida|medidas|unidades|misure|unità|eenheden|единицы|измерения|单位|單位|度量|単位|단위|jednostki",
    ),
    (
        false,
        "paper|papers|article|articles|study|studies|论文|論文|논문|статьи",
    ),
    (
        false,
        "code|codebase|source code|código|codice|код|коде|代码|代碼|程式碼|コード|코드|kod",
    ),
    (
        false,
        "indent|indentation|indenting|einrückung|einrücken|indentation|sangría|indentación|indentação|indentazione|отступ|отступы|缩进|縮排|インデント|들여쓰기|wcięcia",
    ),
    (
        false,
        "name|names|naming|variable names|namen|noms|nombres|nomes|nomi|имена|命名|変数名|이름|nazwy",
    ),
    (
        false,
        "deploy|deploys|deploying|deployment|deployments|release|releases|releasing|rollout|ship|deployen|deploye|déployer|déploie|déploiement|despliega|desplegar|despliegue|implantar|деплой|деплоить|развёртывание|部署|发布|發布|上线|デプロイ|リリース|배포|wdrażaj",
    ),
    (
        false,
        "deadline|deadlines|due date|frist|échéance|plazo|prazo|scadenza|срок|截止|締め切り|마감",
    ),
    (
        false,
        "budget|spend|spending|cost|costs|price|ausgeben|kosten|dépenser|coût|gastar|gasto|costo|coste|custo|spendere|бюджет|тратить|预算|預算|花费|费用|予算|費用|예산|비용|wydawać",
    ),
    (
        false,
        "log|logs|logging|print statements|console.log|протокол|логи|日志|日誌|ログ|로그|logi",
    ),
    (
        false,
        "format|formatting|formatter|formatierung|formato|formattazione|форматирование|格式|フォーマット|형식|포맷",
    ),
    (
        false,
        "explain|explaining|explanation|explanations|erkläre|erklärung|erklärungen|explique|explication|explications|explica|explicación|explicaciones|explicação|spiega|spiegazione|uitleg|объясняй|объяснения|解释|解釋|说明|說明|説明|설명|wyjaśniaj",
    ),
    (
        false,
        "apologize|apologizing|apologise|apologising|apology|apologies|sorry|entschuldige|entschuldigung|entschuldigungen|excuses|disculpas|desculpas|scuse|извинения|извиняйся|道歉|抱歉|謝罪|謝ら|사과",
    ),
    (
        false,
        "merge|merging|merges|zusammenführen|fusionner|fusionar|mesclar|unire|слияние|合并|合併|マージ|병합",
    ),
    (
        false,
        "table|tables|tabelle|tabellen|tableau|tableaux|tabla|tablas|tabela|tabelas|tabella|tabel|таблица|таблицы|表格|表|테이블",
    ),
    (
        false,
        "language|languages|sprache|langue|idioma|língua|lingua|taal|язык|языке|语言|語言|言語|언어|język",
    ),
    (
        false,
        "image|images|picture|pictures|photo|photos|screenshot|screenshots|bild|bilder|imagen|imágenes|imagem|imagens|immagine|immagini|afbeelding|картинки|изображения|图片|圖片|截图|画像|이미지|사진",
    ),
    (
        false,
        "migration|migrations|migrationen|migración|migraciones|миграции|迁移脚本|マイグレーション|마이그레이션",
    ),
    (
        false,
        "secret|secrets|credential|credentials|password|passwords|api key|api keys|token|tokens|passwort|passwörter|zugangsdaten|geheimnisse|mot de passe|mots de passe|contraseña|contraseñas|senha|senhas|пароль|пароли|密码|密碼|密钥|パスワード|비밀번호",
    ),
    (
        false,
        "database|databases|datenbank|base de données|base de datos|banco de dados|база данных|базу данных|数据库|數據庫|資料庫|データベース|데이터베이스",
    ),
    (
        true,
        "use|using|uses|used|verwende|verwenden|benutze|benutzen|nutze|utilise|utiliser|utilisez|usa|usar|use|uses|utiliza|utilizar|usare|gebruik|gebruiken|используй|использовать|使用|使って|使用|使わ|使い|使う|사용|쓰|używaj|używać",
    ),
    (
        true,
        "make|making|add|adding|adds|include|including|insert|put|putting|create|creating|füge|hinzufügen|ajoute|ajouter|añade|añadir|agrega|adicione|adicionar|aggiungi|aggiungere|voeg|добавляй|добавлять|создавай|添加|加上|加入|追加|入れ|付け|추가|넣|dodawaj|dodawać",
    ),
    (
        true,
        "show|showing|display|tell|telling|zeig|zeige|zeigen|montre|montrer|muestra|mostrar|mostre|mostra|toon|показывай|покажи|展示|显示|顯示|表示|見せ|보여|pokazuj",
    ),
    (
        true,
        "read|reading|open|opening|look at|view|lies|lesen|öffnen|öffne|lire|lis|ouvrir|leer|lee|abrir|abre|abra|leia|ler|leggere|leggi|aprire|lezen|читай|читать|открывай|读|讀|读取|打开|打開|查看|読ま|読ん|開か|開い|읽|열|czytaj|otwieraj",
    ),
    (
        true,
        "keep|keeping|stay|halte|halten|garde|garder|mantén|mantener|mantenha|mantieni|houd|держи|保持|保って|유지|trzymaj",
    ),
    (
        false,
        "deploy target|region|regions|hosting|hosted|server location|регион|地域|区域|區域|リージョン|리전",
    ),
    (
        false,
        "review|reviews|reviewing|reviewer|code review|begutachtung|revue|revisión|revisiones|revisão|revisione|ревью|审查|審查|评审|レビュー|리뷰",
    ),
    (
        false,
        "backup|backups|sicherung|sicherungen|sauvegarde|sauvegardes|copia de seguridad|copias de seguridad|резервная копия|备份|備份|バックアップ|백업",
    ),
    (
        false,
        "meeting|meetings|calls|besprechung|besprechungen|termin|termine|réunion|réunions|reunión|reuniones|reunião|reuniões|riunione|riunioni|встреча|встречи|会议|會議|会議|ミーティング|회의",
    ),
    (
        false,
        "header|headers|heading|headings|title|titles|überschrift|überschriften|titre|titres|título|títulos|titolo|titoli|заголовок|заголовки|标题|標題|見出し|タイトル|제목",
    ),
    (
        false,
        "line|lines|line length|zeile|zeilen|ligne|lignes|línea|líneas|linha|linhas|riga|righe|строка|строки|строк|行|行宽|줄|linie",
    ),
    (
        false,
        "function|functions|method|methods|funktion|funktionen|fonction|fonctions|función|funciones|função|funções|funzione|funzioni|functie|функция|функции|函数|函數|関数|함수|funkcje",
    ),
    (
        false,
        "import|imports|importe|importaciones|importações|импорты|导入|インポート",
    ),
    (false, "lint|linter|linting|clippy|eslint"),
    (
        false,
        "docs|documentation|docstring|docstrings|readme|dokumentation|doku|documentación|documentação|documentazione|документация|文档|文檔|ドキュメント|문서|dokumentacja",
    ),
    (
        false,
        "type hints|type annotations|types|typing|typhinweise|типы|类型|型ヒント|타입",
    ),
    (
        false,
        "greeting|greetings|greet|begrüßung|salutation|salutations|saludo|saludos|saudação|saluto|приветствие|问候|挨拶|인사",
    ),
];

/// The first word of a notion names it.
pub(in super::super) fn name_of(concept: u16) -> &'static str {
    let words = TABLE.get(usize::from(concept)).map_or("", |row| row.1);
    words.split('|').next().unwrap_or(words)
}
