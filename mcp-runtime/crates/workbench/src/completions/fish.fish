# Completions of `@NAME@` for fish. This command installs them:
#
#     @NAME@ completions fish > ~/.config/fish/completions/@NAME@.fish
#
# The program itself makes the suggestions, so this script stays valid when its tools and options change.
function @FUNCTION@
    set -l words (commandline -opc)
    set -l program (string replace -r '^~' -- $HOME $words[1])
    set -e words[1]
    set -l word (commandline -ct)
    set -l found ($program completions fish -- $words "$word" 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
        return
    end
    # Without a suggestion, fish completes names of files, also after `NAME=`.
    set -l name (string match -r -- '^[^=/]+=' "$word")
    set -l start (string sub -s (math (string length -- "$name") + 1) -- "$word")
    for path in (__fish_complete_path "$start")
        printf '%s%s\n' "$name" $path
    end
end

complete -c @NAME@ -e
complete -c @NAME@ -f -k -a '(@FUNCTION@)'
