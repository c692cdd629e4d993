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
    # `+` stands before a finished word. After `-` the word goes on, so no space follows it.
    finished=("${(@)${(@M)found:#+*}#+}")
    open=("${(@)${(@M)found:#-*}#-}")
    (($#finished)) && _describe -t values @NAME@ finished && result=0
    (($#open)) && _describe -t values @NAME@ open -S '' && result=0
    if ((!$#finished && !$#open)); then
        # Without a suggestion, zsh completes names of files, also behind `NAME=`.
        compset -P '*='
        _files && result=0
    fi
    return result
}

# The first completion runs a file of `fpath` as the function, which this definition then replaces.
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _@NAME@ "$@"
else
    compdef _@NAME@ @NAME@
fi
