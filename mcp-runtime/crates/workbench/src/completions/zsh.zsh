#compdef @NAME@
# Completions of `@NAME@` for zsh. This line in ~/.zshrc, below `compinit`, loads them:
#
#     source <(@NAME@ completions zsh)
#
# The program itself makes the suggestions, so this script stays valid when its tools and options change.
_@NAME@() {
    local -a before found finished open
    local program=${(Q)words[1]} result=1
    ((CURRENT > 2)) && before=("${(@Q)words[2,CURRENT-1]}")
    found=("${(@f)$("${program/#\~/$HOME}" completions zsh -- "${(@)before}" "${(Q)PREFIX}" 2>/dev/null)}")
    # The program marks a finished word with `+`. It marks a word that the person continues with `-`, and zsh adds no space after it.
    finished=("${(@)${(@M)found:#+*}#+}")
    open=("${(@)${(@M)found:#-*}#-}")
    (($#finished)) && _describe -t values @NAME@ finished && result=0
    (($#open)) && _describe -t values @NAME@ open -S '' && result=0
    if ((!$#finished && !$#open)); then
        # Without a suggestion, zsh completes names of files, also after `NAME=`.
        compset -P '*='
        _files && result=0
    fi
    return result
}

# If this file is in `fpath`, zsh runs it at the first completion in place of the function. The definition above has replaced that function, so
# the file calls it.
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _@NAME@ "$@"
else
    compdef _@NAME@ @NAME@
fi
