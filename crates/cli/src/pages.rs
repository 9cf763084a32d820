//! What other programs read about this one: completions for shells and pages for `man`, made from the flags
//! themselves so that they cannot fall behind.

use std::fs;
use std::io;
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::Done;
use crate::args::{Args, ManArgs};
use crate::fail::{Exit, Fail, io_words};
use crate::ui::write_out;

/// The script for a shell, on standard output.
pub(crate) fn completions(shell: Shell) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "conspectus", &mut script);
    write_out(&script)?;
    Ok(Exit::Done)
}

/// One page on standard output, or all of them in a directory.
pub(crate) fn man(args: &ManArgs) -> Done {
    let mut program = Args::command();
    // Gives each command its full name, as in `conspectus config check`.
    program.build();
    match &args.out {
        Some(dir) => {
            let fail = |error| Fail::about(Exit::Output, dir.display(), &io_words(&error));
            fs::create_dir_all(dir).map_err(fail)?;
            write_all(&program, dir).map_err(fail)?;
        }
        None => write_out(&page(find(&program, &args.command)?)?)?,
    }
    Ok(Exit::Done)
}

/// The command that these words name.
fn find<'c>(program: &'c Command, words: &[String]) -> Result<&'c Command, Fail> {
    words.iter().try_fold(program, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            let why = match names.as_slice() {
                [] => format!("{} has no commands of its own", command.get_name()),
                names => format!("no such command; there are {}", names.join(", ")),
            };
            Fail::about(Exit::Usage, word, &why)
        })
    })
}

/// Writes the page of a command and those of the commands below it.
fn write_all(command: &Command, dir: &Path) -> io::Result<()> {
    fs::write(dir.join(format!("{}.1", name(command))), page(command)?)?;
    let mut below = command.get_subcommands().filter(|c| !c.is_hide_set());
    below.try_for_each(|command| write_all(command, dir))
}

/// `conspectus-config-check`.
fn name(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    name.replace(' ', "-")
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let named = command.clone().display_name(name(command));
    let mut page = Vec::new();
    let man = Man::new(named).source(concat!("conspectus ", env!("CARGO_PKG_VERSION")));
    man.render(&mut page)?;
    Ok(page)
}
