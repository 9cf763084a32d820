//! The modules of the page as one file: a browser that asks for twenty small files waits for most of the time.
//!
//! Each module becomes a function that is run once, behind those that it imports; what it exports is what that function
//! gives. The page's own modules are written so that a line tells what it is: an import stands on a line of its own and
//! names its file as `"./name.js"`, an export begins a line. Whatever is not so ends the tests of this crate.

/// A module: the name of its file, and its text.
pub(super) type Module = (&'static str, &'static str);

/// The module `entry` with all that it needs, in order.
pub(super) fn bundle(modules: &[Module], entry: &str) -> String {
    let mut done = Vec::new();
    let mut out = String::new();
    add(modules, entry, &mut done, &mut out);
    out
}

fn add(modules: &[Module], name: &str, done: &mut Vec<String>, out: &mut String) {
    if done.iter().any(|known| known == name) {
        return;
    }
    done.push(name.to_owned());
    let Some((_, text)) = modules.iter().find(|(known, _)| *known == name) else {
        return;
    };
    let (mut body, mut given) = (String::new(), Vec::new());
    for line in text.lines() {
        if let Some((what, from)) = import(line) {
            add(modules, from, done, out);
            body.push_str(&format!("const {what} = {};\n", variable(from)));
        } else if let Some(names) = line.strip_prefix("export {") {
            let names = names.trim_end_matches(';').trim_end_matches('}');
            given.push(names.trim().to_owned());
        } else if let Some(rest) = line.strip_prefix("export ") {
            given.extend(declared(rest).map(str::to_owned));
            body.push_str(rest);
            body.push('\n');
        } else {
            body.push_str(line);
            body.push('\n');
        }
    }
    let (variable, given) = (variable(name), given.join(", "));
    out.push_str(&format!(
        "const {variable} = (() => {{\n{body}return {{ {given} }};\n}})();\n"
    ));
}

/// What is imported, as it can be declared, and the file that it comes from.
fn import(line: &str) -> Option<(&str, &str)> {
    let (what, from) = line.strip_prefix("import ")?.split_once(" from \"./")?;
    let from = from.strip_suffix("\";")?;
    Some((what.strip_prefix("* as ").unwrap_or(what), from))
}

/// The name that a declaration gives.
fn declared(declaration: &str) -> Option<&str> {
    let rest = declaration.strip_prefix("async ").unwrap_or(declaration);
    let kinds = ["function* ", "function ", "const ", "class "];
    let rest = kinds.iter().find_map(|kind| rest.strip_prefix(kind))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    Some(&rest[..end])
}

fn variable(file: &str) -> String {
    format!("${}", file.trim_end_matches(".js"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_stand_behind_what_they_need_and_once() {
        let modules = [
            (
                "a.js",
                "import { f } from \"./b.js\";\nimport * as c from \"./c.js\";\nf(c.x);\n",
            ),
            (
                "b.js",
                "import { x } from \"./c.js\";\nexport function f(n) {\n  return n + x;\n}\n",
            ),
            (
                "c.js",
                "export const x = 1;\nexport async function* g() {}\nexport { x as y };\n",
            ),
        ];
        let expect = "const $c = (() => {\nconst x = 1;\nasync function* g() {}\nreturn { x, g, x as y };\n})();\n\
                      const $b = (() => {\nconst { x } = $c;\nfunction f(n) {\n  return n + x;\n}\nreturn { f };\n})();\n\
                      const $a = (() => {\nconst { f } = $b;\nconst c = $c;\nf(c.x);\nreturn {  };\n})();\n";
        assert_eq!(bundle(&modules, "a.js"), expect);
    }
}
