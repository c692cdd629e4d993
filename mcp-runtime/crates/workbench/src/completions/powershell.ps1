# Completions of `@NAME@` for PowerShell. This line in the file $PROFILE loads them:
#
#     @NAME@ completions powershell | Out-String | Invoke-Expression
#
# The program itself makes the suggestions, so this script stays valid when its tools and options change.
Register-ArgumentCompleter -Native -CommandName '@NAME@' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @('completions', 'powershell', '--')
    foreach ($element in ($commandAst.CommandElements | Select-Object -Skip 1)) {
        if ($element.Extent.EndOffset -ge $cursorPosition) { break }
        $words += if ($null -ne $element.Value) { [string]$element.Value } else { $element.Extent.Text }
    }
    # PowerShell before 7.3 drops empty words. The script therefore puts `=` before the last word, and the program removes it.
    $words += "=$wordToComplete"
    # Without a suggestion, PowerShell completes names of files.
    $program = $commandAst.GetCommandName()
    & $program @words 2>$null | ForEach-Object {
        $value, $about = $_ -split "`t", 2
        $text = $value
        if ($value -match '[^\w./:=@%+-]') { $text = "'" + ($value -replace "'", "''") + "'" }
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $about)
    }
}
