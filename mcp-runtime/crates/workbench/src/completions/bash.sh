# Completions of `@NAME@` for bash. This line in ~/.bashrc loads them:
#
#     source <(@NAME@ completions bash)
#
# The program itself makes the suggestions, so this script stays valid when its tools and options change.
@FUNCTION@() {
    # bash splits a word at `=` and `:`. This loop joins the parts, because the program needs the whole word, up to the cursor.
    local line=${COMP_LINE:0:COMP_POINT} words=() breaks='' kept='' index part space word
    for ((index = 0; index <= COMP_CWORD; index++)); do
        space=${line%%[![:space:]]*}
        line=${line#"$space"}
        part=${COMP_WORDS[index]}
        ((index == COMP_CWORD)) && part=$line
        line=${line#"$part"}
        if ((index > 0)) && [[ -z $space ]]; then
            words[${#words[@]} - 1]+=$part
        else
            words+=("$part")
        fi
    done
    word=${words[${#words[@]} - 1]}
    words=("${words[@]//\\/}")
    words=("${words[@]//\"/}")
    words=("${words[@]//\'/}")

    # bash replaces only the text after the last `=` or `:`, unless the word is in quotes.
    [[ $COMP_WORDBREAKS == *=* ]] && breaks+='='
    [[ $COMP_WORDBREAKS == *:* ]] && breaks+=':'
    if [[ $word != [\"\']* && -n $breaks && $word == *["$breaks"]* ]]; then
        kept=${word%"${word##*["$breaks"]}"}
    fi

    COMPREPLY=()
    while IFS= read -r line; do
        # The program marks a finished word with a space at its end.
        part=${line% }
        space=${line#"$part"}
        if [[ $word == [\"\']* ]]; then
            space=''
        elif [[ $part == *[^A-Za-z0-9_./:=@%+,-]* ]]; then
            printf -v part %q "$part"
        fi
        COMPREPLY+=("${part#"$kept"}$space")
    done < <("${1/#\~/$HOME}" completions bash -- "${words[@]:1}" 2>/dev/null)
}

# Without a suggestion, bash completes names of files. bash before 4.4 does not know `nosort`.
complete -o nosort -o default -o nospace -F @FUNCTION@ @NAME@ 2>/dev/null ||
    complete -o default -o nospace -F @FUNCTION@ @NAME@
